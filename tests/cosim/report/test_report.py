# SPDX-License-Identifier: BSD-2-Clause
"""The report, as a browser shows it, on a desk and on a phone."""

import pytest

from fixfunc.cosim.__main__ import main
from fixfunc.cosim.figures import kept
from tests.cosim.figures import frames
from tests.cosim.report.frames import show

pytestmark = pytest.mark.qualify  # Chromium; and the top takes minutes to build
WIDTHS = (1280, 400)


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
    assert "data:image/png;base64," in text
    assert len(text) < 3_000_000


@pytest.mark.plan("top-12")
def test_the_numbers_are_those_of_the_json(folder, browser):
    figures = kept.read(folder).figures
    check_numbers(browser, folder / "frame.html", figures)
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.mark.plan("top-12")
def test_a_wrong_number_is_seen(folder, browser, tmp_path):
    """Every number of the counters, of which one is changed in the page."""
    figures = kept.read(folder).figures
    page = (folder / "frame.html").read_text()
    tiles = figures["counters"]["tiles"]
    wrong = tmp_path / "wrong.html"
    wrong.write_text(page.replace(f'"golden":{tiles}', f'"golden":{tiles + 1}'))
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
    assert len(heights) > 4
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
