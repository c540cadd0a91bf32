"""What the documents of other services ask of a server and of an app, and the test of each demand.

The documents are, at Adobe Experience League, "FairPlay license token request", "SEES reference server public API",
"Custom authentication entitlement policy workflow" and "Multi-DRM workflows quick start", and at docs.nagra.com,
OpenTV Player, "Renewing a license". Each test is an independent client, which sends the requests of its document to a
running daemon, and opens the license as a device does. The tests do not change the clock: for a lease that has ended,
they sign its session token again with earlier times.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Names that begin with `test_` are tests in this folder. The others are in `Clients/Apple/Tests`.
DEMANDS = {
    # ExpressPlay, and Adobe's TVSDK with it.
    "an SPC goes to a URL with a token, and a raw CKC comes back": "test_a_token_url_is_the_license_url",
    "a person makes a token URL, and writes it into the app":
        "test_a_person_makes_a_token_url_and_writes_it_into_the_app",
    "the redeem URL has a port of its own, and the root as its path":
        "test_the_redeem_url_may_have_any_port_and_the_root_as_its_path",
    "the playlist has the token URL with another scheme":
        "test_a_playlist_can_carry_the_whole_token_url test_tvsdk_finds_the_token_url_in_the_playlist",
    "a token names a stored key, and the asset id says nothing":
        "test_a_stored_key_needs_no_asset_id_of_its_own test_a_content_with_one_key_needs_no_asset_id_of_its_own",
    "the key URI is a content id, also in UTF-16":
        "test_an_asset_id_may_be_utf_16 test_a_key_uri_names_its_key test_the_daemon_serves_what_the_tool_finds",
    "the key URI names the entitlement server and the content":
        "test_a_key_uri_names_the_entitlement_server_and_the_content "
        "test_tvsdk_asks_an_entitlement_server_for_a_token_url",
    "the app replaces the scheme of the key URI, and posts there":
        "test_tvsdk_asks_an_on_premise_server_at_the_swapped_key_uri",
    "an entitlement server answers with a token URL": "test_a_time_based_token_is_for_any_device",
    "a device is registered, and then tokens are bound to it":
        "test_a_device_is_registered_and_then_bound test_a_second_device_registers_itself",
    "the account moves to a new phone": "test_a_registration_at_the_maximum_replaces_the_oldest_device",
    # Both.
    "the certificate comes as a file or by URL": "test_the_script_gets_the_certificate test_certificates_are_there_too",
    "an app can read errors": "test_refusals_come_in_both_formats test_refusals_have_nagras_numbers",
    "the operator's own service decides": "test_issues_what_the_service_allows test_refuses_what_the_service_denies",
    # NAGRA.
    "a header has the token, and JSON comes back": "test_a_header_has_the_token_and_json_comes_back",
    "a right has a start, an end, a duration, and may be stored":
        "test_a_right_that_starts_in_a_day_is_not_kept_waiting_for_hours "
        "test_a_duration_alone_is_the_life_of_a_license_and_not_a_rental "
        "test_the_end_of_a_license_to_keep_is_one_and_not_split",
    "the app reads the end in its own token, or asks the server":
        "test_the_end_is_found_by_license_information_and_in_the_own_token test_a_lease_is_told_in_three_ways",
    "renewal before the end":
        "test_a_lease_is_renewed_before_it_ends test_a_session_token_alone_renews_a_lease",
    "renewal after the player has said that the lease ended":
        "test_a_lease_is_renewed_after_the_player_says_that_it_ended renewsAKeptKeyThatHasExpired "
        "test_an_expired_session_token_sends_the_app_for_a_content_token",
    "a stored license is renewed, and stays a stored one":
        "test_a_license_to_keep_is_told_in_three_ways_and_renewed_with_a_fresh_token renewsAKeptKeyBeforeItsEnd",
    "a license to store at the URL of streaming": "test_a_license_to_keep_needs_no_other_url",
    "the device reports about a stored key":
        "test_a_sync_request_is_answered_without_a_ckc renewsAfterTheDevicesReport",
}  # fmt: skip


def test_each_demand_has_a_test() -> None:
    named = {name for names in DEMANDS.values() for name in names.split()}
    sources = [*Path(__file__).parent.glob("test_*.py"), *(ROOT / "Clients/Apple/Tests").rglob("*.swift")]
    there = {name for file in sources for name in re.findall(r"\b(?:def|func) (\w+)\(", file.read_text())}
    assert named <= there, named - there
