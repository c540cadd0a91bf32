"""The article "Web pages": its page plays from the folder that its commands make."""

import os
import re
import subprocess
from pathlib import Path

from browser import Page
from conftest import KINDS, ROOT, Lab, Title, required
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
