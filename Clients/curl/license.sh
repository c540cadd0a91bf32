#!/bin/bash
# Asks a Latchkey server for one license with an SPC from a file, and shows the answer that a player would get.
#
#   LATCHKEY_TOKEN=… Clients/curl/license.sh URL SPC CKC [renew|offline]
#   Clients/curl/license.sh URL certificate FILE
#
# URL is the server's, such as https://keys.example.com. SPC is the file to send. CKC is the file for the license. The
# script prints the facts about the license or the refusal.
#
# The status is 0 for a license, 1 for a refusal, 2 for wrong arguments (and an SPC that cannot be read, or a file that
# cannot be written), 3 if another attempt later may help (429, 503, no answer, or a proxy's page in place of a
# license), and 4 if the token is the cause (401).
set -euo pipefail

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    sed --quiet '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"
    exit 0
fi
fail() {
    echo "license.sh: $*" >&2
    exit 2
}

(($# == 3 || $# == 4)) || fail "wrong arguments; see --help"
command -v curl >/dev/null || fail "curl is not installed"

url=${1%/}
[[ ${url,,} =~ ^https?://[^/] ]] || fail "the URL $1 is wrong"
answer=$(mktemp --directory)
trap 'rm -rf "$answer"' EXIT
common=(--silent --show-error --max-time 20 --write-out '%{http_code}')
common+=(--dump-header "$answer/head" --output "$answer/body")

field() {
    # The file may begin with the fields of interim answers or of a proxy's answer. The last field of this name counts.
    sed --quiet "s/^$1: \([^\r]*\)\r*\$/\1/Ip" "$answer/head" | tail --lines 1
}

ask() {
    status=$(curl "${common[@]}" "$@") || case $? in
    1 | 3) fail "the URL $url is wrong" ;;
    *) exit 3 ;;
    esac
}

# Whether the body begins with these bytes in hexadecimal digits, and is longer than a number of bytes.
has_body() {
    local size
    size=$(stat --format %s "$answer/body" 2>/dev/null) || return 1
    ((size > $2)) && [[ $(head --bytes 4 "$answer/body" | od --address-radix n --format x1 | tr -d ' ') =~ ^($1) ]]
}

# The server counts a license. So the file for it must be right before the request.
output=$3
[[ ! -d $output && -w $(dirname -- "$output") ]] || fail "the file $output cannot be written"

if [[ $2 == certificate ]]; then
    expected=(3082 4)
    ask "$url/fps/certificate"
else
    expected=('0000000[12]' 28)
    case ${4:-} in
    '') query= ;;
    renew) query='?renew=true' ;;
    offline) query='?offline=1' ;;
    *) fail "$4 is not renew or offline" ;;
    esac
    [[ -n ${LATCHKEY_TOKEN:-} ]] || fail "LATCHKEY_TOKEN has no token"
    # If curl cannot read a file, it posts an empty body.
    cat -- "$2" >"$answer/spc" || fail "the SPC $2 cannot be read"
    [[ -s $answer/spc ]] || fail "the SPC $2 is empty"
    # The token is passed through a file descriptor, because other users of this machine can read arguments.
    ask --header "@/dev/fd/3" --header 'Content-Type: application/octet-stream' \
        --data-binary "@$answer/spc" "$url/fps/license$query" 3<<<"Authorization: Bearer $LATCHKEY_TOKEN"
fi

if [[ $status == 200 ]]; then
    if ! has_body "${expected[@]}"; then
        echo "license.sh: the answer has the status 200, but something else in its body; is there a proxy?" >&2
        exit 3
    fi
    mv "$answer/body" "$output"
    for name in X-License-Id X-License-Type X-License-Issued X-License-Expires X-License-Renew-After X-Session-Token; do
        value=$(field "$name")
        [[ -z $value ]] || echo "$name: $value"
    done
    exit 0
fi

echo "status: $status"
for name in X-Error-Code X-Request-Id Retry-After; do
    value=$(field "$name")
    [[ -z $value ]] || echo "$name: $value"
done
[[ ! -s $answer/body ]] || cat "$answer/body"
echo
case $status in
401) exit 4 ;;
408 | 429 | 5??) exit 3 ;;
*) exit 1 ;;
esac
