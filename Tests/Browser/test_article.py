"""The article "Web pages": its page plays from the folder that its commands make. Its page for Shaka Player too."""

import os
import re
import subprocess
from pathlib import Path

from browser import Page
from conftest import KINDS, ROOT, Lab, Title, kit_files, required
from test_browser import LICENSE_PATH, assert_brought_the_key, assert_plays, kid_uri

ARTICLE = ROOT / "Documentation/apps/web.md"
# The address of the web server in the article, and that of the daemon.
PAGES, DAEMON = "http://127.0.0.1:8000", "http://127.0.0.1:8080"


def test_the_page_of_the_article_plays(lab: Lab, page: Page, title: Title, tmp_path: Path) -> None:
    _, _, step = ARTICLE.read_text().partition("\n## A page that plays the film\n")
    # The first commands copy the kit. The next ones get the player, and the last ones serve the folder.
    copying, getting, serving = re.findall(r"```sh\n(.*?)```", step.partition("\n## ")[0], re.DOTALL)
    (address,) = re.findall(rf"^    ({PAGES}/\S*)$", step, re.MULTILINE)
    folder = tmp_path / "film"
    folder.mkdir()
    (tmp_path / "latchkey").symlink_to(ROOT)
    subprocess.run(["bash", "-ec", copying], cwd=tmp_path, env=os.environ | {"HOME": str(tmp_path)}, check=True)
    (place,) = re.findall(r"--output (\S+)", getting)
    (tmp_path / place).write_bytes(Path(required("LATCHKEY_HLS_JS", "player")).read_bytes())
    assert f"--directory {folder.name}" in serving

    files = title.clip(kid_uri(title)).files
    files["master.m3u8"] = files.pop("clip.m3u8")
    for file in folder.glob("*/*"):
        files[str(file.relative_to(folder))] = (KINDS[file.suffix], file.read_bytes())
    served = lab.pages.add("article", files).rstrip("/")
    lab.prepare(page)
    for name, value in ((PAGES, served), (DAEMON, lab.daemon.url), ("TOKEN", title.token())):
        assert name in address
        address = address.replace(name, value)
    page.open(address)
    assert_plays(page)
    assert_brought_the_key(page, title)
    assert len(page.exchanges(LICENSE_PATH)) == 1


def test_the_page_for_shaka_player_gets_the_key(lab: Lab, page: Page, title: Title) -> None:
    """The page of the article, with the addresses of this test."""
    (text,) = re.findall(r"```html\n(.*?)```", ARTICLE.read_text(), re.DOTALL)
    clip = title.clip(kid_uri(title)).files
    files = {"token": ("text/plain", title.token().encode()), "master.m3u8": clip.pop("clip.m3u8")} | clip
    for folder in ("browser", "shaka-player"):
        files |= {f"{folder}/{name}": file for name, file in kit_files(folder).items()}
    shaka = Path(os.environ.get("LATCHKEY_SHAKA") or Path(__file__).parent / "shaka_stand_in.js")
    files["shaka-player.compiled.js"] = ("text/javascript", shaka.read_bytes())
    for old, new in {
        "/token?film=movie-42": "token",
        "https://keys.example.com": lab.daemon.url,
        "https://cdn.example.com/movie-42/": "",
    }.items():
        assert old in text
        text = text.replace(old, new)
    files["index.html"] = ("text/html", text.encode())
    lab.prepare(page)
    page.open(f"{lab.pages.add('shaka-article', files).rstrip('/')}/index.html")
    page.evaluate("observer.licenses(1)")
    assert_brought_the_key(page, title)
