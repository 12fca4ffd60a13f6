"use strict";
// Unpacks plotly.js from the page, draws every figure in the reader's theme, and in the
// light one for paper.
(async () => {
  const themes = JSON.parse(document.getElementById("themes").textContent);
  const figures = [...document.querySelectorAll("script[data-figure]")];
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const PAPER = { width: 660, height: 0.8 }; // pixels between margins; share of the screen's
  const folded = [...document.querySelectorAll("details:not([open])")];

  function unpack(text) {
    // base 85: five characters are four bytes, the most significant first
    const marks = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" +
      "!#$%.()*+-;,=:?@^_`{|}~";
    const value = new Uint8Array(128);
    [...marks].forEach((mark, i) => { value[mark.charCodeAt(0)] = i; });
    const rest = (5 - text.length % 5) % 5;
    const padded = text + "~".repeat(rest);
    const bytes = new Uint8Array(padded.length / 5 * 4);
    for (let i = 0, at = 0; i < padded.length; i += 5) {
      let number = 0;
      for (let j = 0; j < 5; j++) number = number * 85 + value[padded.charCodeAt(i + j)];
      for (let shift = 24; shift >= 0; shift -= 8) bytes[at++] = (number >>> shift) & 255;
    }
    return bytes.subarray(0, bytes.length - rest);
  }

  function draw(theme, paper) {
    return Promise.all(figures.map((source) => {
      const colours = themes[theme];
      const text = source.textContent.replace(/#0000[0-9]{2}/g, (c) => colours[c] ?? c);
      const figure = JSON.parse(text);
      const height = figure.layout.height * PAPER.height;
      const size = paper ? { ...PAPER, height, autosize: false } : { autosize: true };
      return Plotly.react(
        source.dataset.figure,
        figure.data,
        { ...figure.layout, ...size },
        { displayModeBar: false, responsive: !paper },
      );
    }));
  }

  const packed = document.getElementById("plotly").textContent;
  const stream = new Blob([unpack(packed)]).stream()
    .pipeThrough(new DecompressionStream("gzip"));
  const plotly = document.createElement("script");
  plotly.textContent = await new Response(stream).text();
  document.head.append(plotly);

  const now = () => draw(dark.matches ? "dark" : "light");
  await now();
  document.documentElement.dataset.drawn = "yes";
  dark.addEventListener("change", now);
  const fold = (open) => folded.forEach((one) => { one.open = open; });
  addEventListener("beforeprint", () => { fold(true); draw("light", true); });
  addEventListener("afterprint", () => { fold(false); now(); });
})();
