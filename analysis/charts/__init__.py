"""Pictures as SVG text, drawn on the server: no script, no style, no request.

They use presentation attributes only, since a strict Content-Security-Policy forbids styles in the
markup. `currentColor` takes the page's text color, also on a dark page. Parts differ in dash, shape
or words as well as in color. Each picture has a title and a description for those who cannot see
it.
"""

from analysis.charts.dots import dot_plot
from analysis.charts.estimates import Bar, bar_of, chart
from analysis.charts.lines import Mark, Series, line_chart
from analysis.charts.people import icon_array, icon_patterns, small_icon_array
from analysis.charts.points import point_chart

__all__ = [
    "Bar",
    "Mark",
    "Series",
    "bar_of",
    "chart",
    "dot_plot",
    "icon_array",
    "icon_patterns",
    "line_chart",
    "point_chart",
    "small_icon_array",
]
