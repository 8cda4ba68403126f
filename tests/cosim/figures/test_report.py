# SPDX-License-Identifier: BSD-2-Clause
"""The report, as a browser shows it, on a desk and on a phone."""

import io
import json
import re

import numpy as np
import pytest
from PIL import Image

from fixfunc.cosim.__main__ import main
from tests.cosim.figures import frames

pytestmark = pytest.mark.qualify  # Chromium; and the top takes minutes to build
WIDTHS = (1280, 400)


def hardware(folder):
    """By the hardware itself."""
    assert main(["frame", "teapot", "--size", "160x90", "--divisions", "2", "-o", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module", params=[frames.golden, frames.counted, hardware])
def folder(request, tmp_path_factory):
    """A frame, drawn."""
    return request.param(tmp_path_factory.mktemp("frame"))


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window; where it is missing the test fails, and says what to install."""
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException

    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
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


def show(browser, page, width=1280):
    """A page at a width; below 500 pixels as a phone, which obeys its viewport alone."""
    size = {"width": width, "height": 1400, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(f"file://{page}")


def rows(browser, table):
    """Texts of the cells of a table."""
    script = (
        "return [...document.getElementById(arguments[0]).rows].map(row => "
        "[...row.cells].map(cell => cell.textContent))"
    )
    return browser.execute_script(script, table)


def shown_counters(browser):
    """Of each counter on the page: hardware and golden, as numbers; None for a dash."""
    script = (
        "return [...document.querySelectorAll('#counters [data-name]')].map(row => "
        "[row.dataset.name, ...[...row.cells].slice(1, 3).map(cell => cell.textContent)])"
    )
    return {
        name: [None if text == "\u2013" else int(text.replace(",", "")) for text in values]
        for name, *values in browser.execute_script(script)
    }


def check_numbers(browser, page, figures):
    """Every number of the page is that of the figures."""
    show(browser, page)
    browser.find_element("id", "zeros").click()
    counted = figures.get("hardware", {})
    golden = figures["counters"] | figures.get("golden", {})
    assert shown_counters(browser) == {
        name: [counted.get(name), golden.get(name)] for name in counted.keys() | golden.keys()
    }
    most = max(golden["triangles"], golden["tiles"])
    assert f"{most:,}" in browser.find_element("id", "bound").text
    if not counted:
        return
    assert f"{counted['clocks']:,} clocks" in browser.find_element("id", "bound").text
    moved = [
        [*row[:3], *(int(value.replace(",", "")) for value in row[3:])]
        for row in rows(browser, "memory")[1:]
    ]
    assert moved == [list(row) for row in figures["moved"]]
    probes = {
        name: [int(value.replace(",", "")) for value in values]
        for name, *values in rows(browser, "probes")[1:]
    }
    assert probes == {
        name: [probe["beats"], probe["mismatches"]] for name, probe in figures["rtl"].items()
    }
    assert {name: float(value) for name, value in rows(browser, "stalls")[1:]} == {
        name: round(share, 4) for name, share in figures["stalls"].items()
    }
    said = browser.find_element("id", "verdict").text
    assert f"0 mismatches; {figures['clocks']:,} clocks" in said


def test_the_report_needs_nothing_else(folder):
    text = (folder / "frame.html").read_text()
    assert "http:" not in text
    assert "https:" not in text
    assert 'src="data:image/png;base64,' in text
    assert len(text) < 3_000_000


@pytest.mark.plan("top-12")
def test_the_numbers_are_those_of_the_json(folder, browser):
    figures = json.loads((folder / "frame.json").read_text())
    check_numbers(browser, folder / "frame.html", figures)
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.mark.plan("top-12")
def test_a_wrong_number_is_seen(folder, browser, tmp_path):
    """Every number of the counters, of which one is changed in the page."""
    figures = json.loads((folder / "frame.json").read_text())
    page = (folder / "frame.html").read_text()
    tiles = figures["counters"]["tiles"]
    wrong = tmp_path / "wrong.html"
    wrong.write_text(page.replace(f'"golden": {tiles}', f'"golden": {tiles + 1}'))
    with pytest.raises(AssertionError, match="tiles"):
        check_numbers(browser, wrong, figures)


@pytest.mark.plan("top-12")
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_is_as_wide_as_the_window(folder, browser, width):
    """Nor is any text of the chart smaller than can be read."""
    show(browser, folder / "frame.html", width)
    wide, inside = browser.execute_script(
        "const page = document.documentElement; return [page.scrollWidth, page.clientWidth]"
    )
    assert wide == inside <= width
    heights = browser.execute_script(
        "return [...document.querySelectorAll('svg text')].map("
        "text => text.getBoundingClientRect().height)"
    )
    assert len(heights) > 5
    assert min(heights) > 8


@pytest.mark.plan("top-12")
@pytest.mark.parametrize("width", WIDTHS)
def test_a_counter_is_explained(folder, browser, width):
    """By pointer, by keyboard and by a finger: a line at the foot of the window."""
    from selenium.webdriver import ActionChains, Keys

    show(browser, folder / "frame.html", width)
    words = browser.find_element("css selector", '[data-name="tiles"] .why')
    line = words.find_element("css selector", "span")
    assert not line.is_displayed()
    ActionChains(browser).move_to_element(words).perform()
    assert line.text == "tiles: The tile rasterizer gives one tile of a triangle a clock, at most."
    ActionChains(browser).move_to_element(browser.find_element("id", "bound")).perform()
    assert not line.is_displayed()
    browser.find_element("id", "zeros").send_keys(Keys.TAB)
    focused = browser.switch_to.active_element
    assert focused.get_attribute("class") == "why"
    assert focused.find_element("css selector", "span").is_displayed()
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", words)
    box = browser.execute_script(
        "const b = arguments[0].getBoundingClientRect(); return [b.x + 5, b.y + 5]", words
    )
    point = {"x": box[0], "y": box[1]}
    for kind, points in (("touchStart", [point]), ("touchEnd", [])):
        browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    assert line.is_displayed()


@pytest.mark.plan("top-12")
def test_the_maps_and_what_is_under_the_pointer(folder, browser):
    from selenium.webdriver import ActionChains

    show(browser, folder / "frame.html")
    shots = []
    for choice in browser.find_elements("name", "map"):
        choice.click()
        shots.append(
            np.asarray(
                Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
            ).astype(int)
        )
    coded = "hardware" in json.loads((folder / "frame.json").read_text())
    assert len(shots) == 3 + coded
    assert all(shot.std() > 10 for shot in shots)
    assert all((one != other).any() for n, one in enumerate(shots) for other in shots[:n])
    canvas = browser.find_element("id", "map")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    ActionChains(browser).move_to_element(canvas).perform()
    said = browser.find_element("id", "at").text
    mode = r"; depths in memory: \w+" if coded else ""
    assert re.fullmatch(
        r"tile (19|20), 11: \d+ triangles; HiZ: test \d+, drop \d+, accept \d+" + mode, said
    ), said  # 40 by 23 tiles


@pytest.mark.plan("top-12")
@pytest.mark.parametrize("width", WIDTHS)
def test_a_comparison_as_a_page(browser, width, tmp_path):
    """It is no wider than the window, weights are in sight, and numbers are those of both."""
    first = frames.counted(tmp_path / "first")
    second = frames.counted(tmp_path / "second", clocks=45_000, stall_setup=9876)
    page = tmp_path / "compare.html"
    assert main(["compare", str(first), str(second), "-o", str(page)]) == 0
    show(browser, page, width)
    wide, inside = browser.execute_script(
        "const page = document.documentElement; return [page.scrollWidth, page.clientWidth]"
    )
    assert wide == inside <= width
    box = browser.execute_script(
        "const box = document.querySelector('.wide'); return [box.scrollWidth, box.clientWidth]"
    )
    assert box[0] == box[1]
    assert [[row[0], *row[2:4]] for row in rows(browser, "differences")[1:]] == [
        ["clocks of the frameClocks from a START to its last status.", "30,000", "45,000"],
        [
            "a beat waited before tile rasterizerClocks in which triangle setup offered a beat "
            "that tile rasterizer did not take.",
            "5,432",
            "9,876",
        ],
    ]
    words = browser.find_element("css selector", ".why")
    assert not words.find_element("css selector", "span").is_displayed()
    browser.execute_script("arguments[0].focus()", words)
    assert words.find_element("css selector", "span").is_displayed()
