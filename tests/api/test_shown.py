"""How answers are shown: frames that keep whole numbers whole, and HTML that is safe anywhere."""

from clwl_spark.api.shown import HtmlTable, fragment, frame_of


def test_whole_numbers_with_gaps_stay_whole():
    frame = frame_of([{"a": 1, "b": True}, {"a": None, "b": False}], ["a", "b"])
    assert str(frame["a"].dtype) == "Int64"
    assert frame["b"].dtype == bool
    assert list(frame_of([], ["x", "y"])) == ["x", "y"]


def test_names_are_text_in_the_page_and_colours_are_the_notebook_s():
    table = HtmlTable("<c>", ["<h>"], [["<script>alert(1)</script>"]])
    html = fragment("<b>", ["<i>"], [table, HtmlTable("empty", ["x"], [])])
    assert "<script" not in html
    for text in ("&lt;c&gt;", "&lt;h&gt;", "&lt;b&gt;", "&lt;i&gt;"):
        assert text in html
    assert "empty" not in html
    assert "#" not in html.split("</style>", maxsplit=1)[0]
    assert "background: none" in html
