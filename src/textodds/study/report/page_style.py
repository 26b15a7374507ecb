"""How a page looks: light and dark, on a phone, on a desk and on paper."""

from __future__ import annotations

from textodds.study.report.palette import COLOURS, FAINT, INK

DARK = ("#4aa8e0", "#f08a4b", "#35c496", "#e0a0c4", "#7cc9f2", "#f0b429", "#e8e8e8", "#f0e442")
"""The colours of the classes where the page is dark, in the order of the palette, with black as white."""


def _colours(colours: tuple[str, ...], ink: str, faint: str, paper: str, line: str, box: str) -> str:
    named = {"ink": ink, "faint": faint, "paper": paper, "line": line, "box": box}
    named |= {f"c{k}": colour for k, colour in enumerate(colours)}
    return ";".join(f"--{key}:{value}" for key, value in named.items())


LIGHT_COLOURS = _colours(COLOURS, INK, FAINT, "#ffffff", "#dddddd", "#f6f6f4")
DARK_COLOURS = _colours(DARK, "#e6e6e3", "#a0a09a", "#18191b", "#3a3b3e", "#222326")

STYLE = (
    f"""
:root{{color-scheme:light dark;{LIGHT_COLOURS}}}
@media screen and (prefers-color-scheme:dark){{:root{{{DARK_COLOURS}}}}}
"""
    + """
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0 auto;padding:1.5rem 1rem 4rem;max-width:64rem;background:var(--paper);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif;
overflow-wrap:break-word}
h1{font-size:1.8rem;line-height:1.2;margin:0 0 .4rem;font-weight:650}
h2{font-size:1.3rem;line-height:1.3;margin:2.6rem 0 .6rem;padding-top:.7rem;border-top:1px solid var(--line);
font-weight:650}
h3{font-size:1.05rem;margin:1.6rem 0 .4rem;font-weight:650}
p{margin:.5rem 0;max-width:46rem}
.lead{font-size:1.05rem;color:var(--faint)}
.note,figcaption,caption{font-size:.875rem;color:var(--faint)}
a{color:var(--c0)}
nav{margin:1.2rem 0;font-size:.9rem}
nav ol{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:.3rem 1.1rem}
nav a{text-decoration:none}
nav a:hover,nav a:focus{text-decoration:underline}
.measures{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.8rem;margin:1.2rem 0}
.measures>div{background:var(--box);border-radius:.5rem;padding:.7rem .9rem}
.measures dt{font-size:.875rem;color:var(--faint)}
.measures dd{margin:0}
.measures b{display:block;font-size:1.6rem;line-height:1.3;font-weight:600;font-variant-numeric:tabular-nums}
.measures span{display:block;font-size:.8rem;line-height:1.4;color:var(--faint)}
.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;margin:.8rem 0;font-size:.9rem}
caption{text-align:left;padding-bottom:.4rem}
th,td{padding:.25rem .8rem .25rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line);
unicode-bidi:isolate}
tbody th{font-weight:normal;max-width:22rem}
thead th{color:var(--faint);font-weight:600;font-size:.825rem;vertical-align:bottom}
.numbers td,.numbers thead th:not(:first-child){text-align:right;padding:.25rem .4rem .25rem .8rem;
white-space:nowrap;font-variant-numeric:tabular-nums}
.numbers thead th:not(:first-child){white-space:normal}
td small{color:var(--faint);font-size:.85em}
figure{margin:1rem 0}
figure svg{display:block;max-width:none}
@media (max-width:40rem){figure svg:not(.wide){max-width:100%;height:auto}}
figcaption{max-width:46rem;margin-top:.3rem}
.beside{display:flex;flex-wrap:wrap;gap:0 2rem;align-items:flex-start}
.beside>*{flex:0 1 auto;min-width:0;max-width:100%}
.beside figcaption{max-width:28rem}
.beside figure:has(.wide) figcaption{max-width:46rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.8rem}
summary{cursor:pointer;color:var(--c0);margin:.6rem 0}
.text{white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate;background:var(--box);
border-radius:.4rem;padding:.6rem .8rem;margin:.4rem 0;max-width:52rem;line-height:1.7}
.text mark{color:inherit;border-radius:.15rem;padding:0 .1em}
.mistake{break-inside:avoid;margin:1.4rem 0}
.mistake p{margin:.2rem 0}
@page{margin:1.6cm}
@media print{
body{max-width:none;padding:0;font-size:10.5pt}
nav{display:none}
a{color:inherit;text-decoration:none}
h2,h3{break-after:avoid}
figure,tr,.measures>div{break-inside:avoid}
thead{display:table-header-group}
.scroll{overflow:visible}
figure svg{max-width:100%;max-height:20cm;width:auto;height:auto}
figure svg.wide{max-height:14cm}
.beside{display:block}
details::details-content{content-visibility:visible;display:block;block-size:auto}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}
}
"""
)
