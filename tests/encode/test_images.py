"""Image files as small grayscale pixels."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

import duti
from duti import ProblemError
from duti.encode import Encoder, Layout
from duti.encode.images import SIDE
from duti.report.thumbnails import thumbnail
from tests.encode.frames import dense


def save(folder: Path, name: str, shade: int = 0, size: tuple[int, int] = (40, 24), mode: str = "RGB") -> str:
    Image.new(mode, size, shade if mode == "L" else (shade, shade, shade)).save(folder / name)
    return name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, shade in (("black.png", 0), ("gray.jpg", 128), ("white.bmp", 255)):
        save(tmp_path, name, shade)
    return tmp_path


NAMES = ["black.png", "gray.jpg", "white.bmp"]


def encoded(folder: Path | None, names: Any) -> Any:
    layout = Layout(image="photo", image_folder=folder)
    return dense(Encoder.fit_transform(pa.table({"photo": names}), layout)[1])


def test_pixels_go_from_black_0_to_white_1(folder: Path) -> None:
    X = encoded(folder, NAMES)
    assert X.shape == (3, SIDE * SIDE)
    np.testing.assert_allclose(X, np.repeat([[0.0], [128 / 255], [1.0]], SIDE * SIDE, axis=1))


def test_a_pixel_is_the_mean_of_what_it_covers(tmp_path: Path) -> None:
    shades = np.random.default_rng(0).integers(0, 256, (3 * SIDE, 3 * SIDE), dtype=np.uint8)
    Image.fromarray(shades).save(tmp_path / "noise.png")
    means = shades.reshape(SIDE, 3, SIDE, 3).mean(axis=(1, 3)) / 255
    found = encoded(tmp_path, ["noise.png"] * 2)[0].reshape(SIDE, SIDE)
    np.testing.assert_allclose(found, means, atol=1 / 255)


def test_a_path_may_be_whole(folder: Path) -> None:
    paths = [str(folder / name) for name in NAMES]
    np.testing.assert_array_equal(encoded(folder, paths), encoded(folder, NAMES))
    np.testing.assert_array_equal(encoded(None, paths), encoded(folder, NAMES))


@pytest.mark.parametrize("way", ["dots", "whole", "link"])
def test_no_image_outside_of_the_folder_is_opened(way: str, folder: Path) -> None:
    (folder / "table").mkdir()
    (folder / "table" / "link.png").symlink_to(folder / "black.png")
    name = {"dots": "../black.png", "whole": str(folder / "black.png"), "link": "link.png"}[way]
    with pytest.raises(ProblemError, match=r"row 0: the image .* cannot be read \(it is outside of "):
        encoded(folder / "table", [name] * 2)
    assert thumbnail(name, folder / "table") is None
    assert thumbnail("black.png", folder) is not None


def test_only_formats_that_the_report_shows_are_opened(folder: Path) -> None:
    Image.new("RGB", (8, 8)).save(folder / "picture.eps")
    with pytest.raises(ProblemError, match="cannot identify image file"):
        encoded(folder, ["picture.eps"] * 2)


def test_the_column_is_told(folder: Path) -> None:
    layout = Layout(image="photo", image_folder=folder)
    encoder = Encoder.fit(pa.table({"photo": NAMES}), layout)
    assert encoder.columns[0].kind == "image"
    assert encoder.columns[0].treatment == "16 × 16 shades of gray from 0 to 1"
    assert encoder.feature_names[:2] == ("photo[0]", "photo[1]")


@pytest.mark.parametrize(
    "name, message",
    [
        (
            "lost.png",
            r"X column 'photo', row 1: the image 'lost.png' cannot be read \(there is no such file\)",
        ),
        ("broken.png", r"row 1: the image 'broken.png' cannot be read \(.*cut.*\)|\(.*truncated.*\)"),
        ("text.png", r"row 1: the image 'text.png' cannot be read \(cannot identify image file"),
        (
            "https://example.org/cat.png",
            r"row 1: the image 'https://.*' cannot be read \(there is no such file",
        ),
        ("nul\0.png", r"row 1: the image 'nul\\x00.png' cannot be read"),
        (".", r"row 1: the image '\.' cannot be read \(there is no such file"),
        ("", r"X column 'photo', row 1 names no image; name a file, or drop the row"),
        (None, r"X column 'photo', row 1 names no image"),
    ],
)
def test_an_image_that_cannot_be_read_is_named_with_its_row(folder: Path, name: Any, message: str) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (64, 64), dtype=np.uint8)
    Image.fromarray(noise).save(folder / "broken.png")
    data = (folder / "broken.png").read_bytes()
    (folder / "broken.png").write_bytes(data[: len(data) // 2])
    (folder / "text.png").write_text("not an image")
    with pytest.raises(ProblemError, match=message) as error:
        encoded(folder, ["black.png", name, "white.bmp"])
    assert "\n" not in str(error.value)


def test_an_image_too_large_to_unpack_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 500)
    with pytest.raises(ProblemError, match=r"row 0: the image 'black.png' cannot be read \(Image size"):
        encoded(folder, NAMES)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe.png")
    with pytest.raises(ProblemError, match="there is no such file"):
        encoded(folder, ["black.png", "pipe.png"])


def test_wrong_labels_of_images_are_found(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    shades = [*rng.integers(0, 90, 20), *rng.integers(160, 256, 20)]
    rows = pa.table({"photo": [save(tmp_path, f"{i}.png", int(shade)) for i, shade in enumerate(shades)]})
    labels = np.array(["night"] * 20 + ["day"] * 20)
    labels[[3, 30]] = ["day", "night"]
    layout = Layout(image="photo", image_folder=tmp_path)
    trusted = pa.table({"photo": ["5.png", "35.png"]})
    learner = duti.KernelLogistic(bandwidth=1.0, ridge=0.01)
    findings = duti.debug(rows, labels, trusted, ["night", "day"], learner=learner, layout=layout, budget=2)
    assert set(findings.ranking[:2].tolist()) == {3, 30}
