"""Make the pictures of the guide to the app anew: ``python -m tests.pictures``, with Chromium."""

import base64
import tempfile
from pathlib import Path

import sqlanon as sa
from sqlanon.run.demo import invent
from tests.browser import chromium
from tests.conftest import ROOT
from tests.engines import engine_of
from tests.windows import Window, app

FOLDER = ROOT / "sqlanon" / "guides" / "pictures"
SIZES = {"columns": {"width": 1040, "height": 720}, "explore": {"width": 1200, "height": 760}}
MAX_BYTES = 60_000  # each is in the wheel
WEBP = """async source => {
    const image = new Image();
    image.src = "data:image/png;base64," + source;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), {width: image.width, height: image.height});
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.5).split(",")[1];
}"""


def main() -> None:
    with tempfile.TemporaryDirectory() as text, chromium() as browser:
        folder = Path(text)
        with sa.connect(folder / "clinic.duckdb") as session:
            invent(engine_of(session), rows=5_000, seed=1)
        with app(browser, "visits", folder, folder / "clinic.duckdb") as (window, _):
            window.rests()
            take(window, "columns")
            window.go("Explore")
            window.page.click("#search")
            window.rests(300_000)
            take(window, "explore")


def take(window: Window, name: str) -> None:
    """Write what the window shows as WebP, which takes a quarter of the bytes of PNG."""
    window.page.set_viewport_size(SIZES[name])
    shown = base64.b64encode(window.page.screenshot()).decode()
    written = base64.b64decode(window.context.new_page().evaluate(WEBP, shown))
    assert len(written) <= MAX_BYTES, len(written)
    (FOLDER / f"{name}.webp").write_bytes(written)


if __name__ == "__main__":
    main()
