# SPDX-License-Identifier: BSD-2-Clause
"""The report, as a browser shows it."""

import io
import json
import re

import numpy as np
import pytest
from PIL import Image

from fixfunc.cosim.__main__ import main

pytestmark = pytest.mark.qualify  # the top takes minutes to build


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A frame, drawn."""
    folder = tmp_path_factory.mktemp("frame")
    assert main(["frame", "teapot", "--size", "160x90", "--divisions", "2", "-o", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window; where it is missing the test fails, and says what to install."""
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException

    options = webdriver.ChromeOptions()
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1400,1400",
    ):
        options.add_argument(argument)
    options.binary_location = "/usr/bin/chromium"
    try:
        driver = webdriver.Chrome(options, webdriver.ChromeService("/usr/bin/chromedriver"))
    except WebDriverException as error:
        pytest.fail(
            f"no Chromium: type 'apt-get install chromium chromium-driver' "
            f"({str(error).splitlines()[0]})"
        )
    yield driver
    driver.quit()


def test_the_report_needs_nothing_else(folder):
    text = (folder / "frame.html").read_text()
    assert "http:" not in text
    assert "https:" not in text
    assert 'src="data:image/png;base64,' in text


@pytest.mark.plan("top-12")
def test_the_numbers_are_those_of_the_json(folder, browser):
    figures = json.loads((folder / "frame.json").read_text())
    browser.get(f"file://{folder}/frame.html")

    def rows(table):
        script = (
            "return [...document.getElementById(arguments[0]).rows].map(row => "
            "[...row.cells].map(cell => cell.textContent))"
        )
        return browser.execute_script(script, table)

    assert {name: int(value) for name, value in rows("counters")} == figures["hardware"]
    assert [[*row[:3], int(row[3]), int(row[4])] for row in rows("memory")[1:]] == figures["moved"]
    assert {name: [int(value) for value in values] for name, *values in rows("probes")[1:]} == {
        name: [probe["beats"], probe["mismatches"]] for name, probe in figures["rtl"].items()
    }
    assert {name: float(value) for name, value in rows("stalls")[1:]} == {
        name: round(share, 4) for name, share in figures["stalls"].items()
    }
    assert f"0 mismatches; {figures['clocks']} clocks" in browser.find_element("id", "verdict").text
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.mark.plan("top-12")
def test_the_maps_and_what_is_under_the_pointer(folder, browser):
    from selenium.webdriver import ActionChains

    browser.get(f"file://{folder}/frame.html")
    shots = []
    for choice in browser.find_elements("name", "map"):
        choice.click()
        shots.append(
            np.asarray(
                Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
            ).astype(int)
        )
    assert len(shots) == 4
    assert all(shot.std() > 10 for shot in shots)
    assert all((one != other).any() for n, one in enumerate(shots) for other in shots[:n])
    ActionChains(browser).move_to_element(browser.find_element("id", "map")).perform()
    said = browser.find_element("id", "at").text
    assert re.fullmatch(
        r"tile (19|20), 11: \d+ triangles; HiZ: test \d+, drop \d+, accept \d+; depths in "
        r"memory: \w+",
        said,
    ), said  # 40 by 23 tiles
