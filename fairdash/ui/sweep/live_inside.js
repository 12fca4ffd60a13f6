// Local DI and the weights r of the setting that the sliders stand at.
const ROW = 26, TOP = 34, AXIS = 44, SPLIT = 0.8, TICKS = 5, HEIGHT = 300, LINE = 16

const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
const px = (value) => value.toFixed(1)
const text = (x, y, words, more = "") => `<text x="${px(x)}" y="${px(y)}" ${more}>${words}</text>`
// of names that begin alike the end tells them apart
const cutInside = (words, most) => words.length > most
  ? `${words.slice(0, Math.floor(most / 2) - 1)}…${words.slice(-Math.floor(most / 2))}` : words

// names beside each other, in as many lines as they take; and how tall that is
function legend(names, colours, left, width, top) {
  let x = left, y = top
  const items = names.map((name, i) => {
    const wide = 5.6 * name.length + 26
    if (x > left && x + wide > width) { x = left; y += LINE }
    x += wide
    return text(x - wide, y, `<tspan style="fill:${colours[i]}">●</tspan> ${escaped(name)}`)
  })
  return [items.join(""), y - top + LINE]
}

function ticks(top) {
  const rough = top / TICKS, size = 10 ** Math.floor(Math.log10(rough))
  const step = size * [1, 2, 2.5, 5, 10].find((factor) => factor * size >= rough)
  return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, i) => +(i * step).toPrecision(6))
}

function grid(values, x, top, bottom) {
  return values.map((value) => `<line class="grid" x1="${px(x(value))}" x2="${px(x(value))}"
    y1="${top}" y2="${bottom}"/>${text(x(value), bottom + 17, value, 'class="faint" text-anchor="middle"')}`)
    .join("")
}

function dot(gap, low, high, x, y, colour) {
  return `<line x1="${px(x(low))}" x2="${px(x(high))}" y1="${y}" y2="${y}" stroke="${colour}"
    stroke-opacity=".55" stroke-width="2"/><circle cx="${px(x(gap))}" cy="${y}" r="4.5" fill="${colour}"/>`
}

function counts(row, most, left, width, y, colours) {
  let at = left
  return row.counts.map((n, i) => {
    const wide = (n / most) * width, bar = `<rect x="${px(at)}" y="${y - 6}" width="${px(wide)}"
      height="12" fill="${colours[i]}"><title>${n.toLocaleString("en")} rows</title></rect>`
    at += wide
    return bar
  }).join("")
}

function localPicture(data, setting, width) {
  const letters = Math.min(Math.max(...data.rows.map((row) => row.name.length)), 22)
  const left = Math.min(7.2 * letters + 12, 0.36 * width), right = SPLIT * width
  const bottom = TOP + ROW * data.rows.length
  const [groups, tall] = legend(data.groups, data.colours, 4, width, bottom + AXIS + 14)
  const height = bottom + AXIS + tall
  const x = (value) => left + (Math.min(value, data.top) / data.top) * (right - left)
  const most = Math.max(...data.rows.map((row) => row.counts.reduce((a, b) => a + b, 0)))
  const rows = data.rows.map((row, i) => {
    const y = TOP + ROW * (i + 0.5), known = setting.local[i]
    const shown = known ? dot(...known, x, y, data.colour)
      : text(left + 6, y + 4, escaped(`not estimable: ${row.reason}`), 'class="faint"')
    const name = text(left - 8, y + 4, escaped(cutInside(row.name, Math.floor((left - 12) / 6.6))), 'text-anchor="end"')
    return `<g><title>${escaped(row.name)}${known ? `: ${known[0].toFixed(3)} (${known[1].toFixed(3)}–${known[2].toFixed(3)})` : ""}</title>
      ${name}${shown}</g>${counts(row, most, right + 18, width - right - 22, y, data.colours)}`
  })
  const band = setting.chance === null ? "" : `<rect class="band" x="${px(left)}" y="${TOP}"
    width="${px(x(setting.chance) - left)}" height="${bottom - TOP}"/>`
  const di = `<line x1="${px(x(setting.di))}" x2="${px(x(setting.di))}" y1="${TOP}" y2="${bottom}"
    stroke="${data.colour}" stroke-width="1.5" stroke-dasharray="7 5"/>`
  return `<svg viewBox="0 0 ${width} ${height}" height="${height}" role="img" aria-label="${escaped(setting.said)}">
    ${band}${grid(ticks(data.top), x, TOP, bottom)}${setting.di === null ? "" : di}${rows.join("")}
    ${text(left, 16, `● ${escaped(setting.label)} · global DI ${setting.di === null ? "–" : setting.di.toFixed(3)}`, `style="fill:${data.colour}"`)}
    ${text((left + right) / 2, bottom + AXIS - 8, "local DI: gap in P(ŷ = 1)", 'class="faint" text-anchor="middle"')}
    ${groups}
    ${text(width - 4, bottom + 17, "rows", 'class="faint" text-anchor="end"')}</svg>`
}

function ratioPicture(data, { ratio }, width) {
  const left = 34, right = width - 8, bottom = HEIGHT - AXIS
  const named = data.groups.map((name, i) => `${name} ${ratio.ends[i]}`)
  const [names, lines] = legend(named, data.colours, left, width, 16), top = TOP - LINE + lines
  const tall = Math.max(...ratio.bars.flat(), 1e-9)
  const x = (value) => left + (value / ratio.top) * (right - left)
  const y = (value) => bottom - (value / tall) * (bottom - top)
  const steps = ratio.bars.map((bars, i) => {
    const wide = ratio.top / bars.length
    const path = bars.map((bar, k) => `V${px(y(bar))}H${px(x((k + 1) * wide))}`).join("")
    const colour = data.colours[i]
    return `<path d="M${px(x(0))},${bottom}${path}V${bottom}" fill="${colour}" fill-opacity=".1"
      stroke="${colour}" stroke-width="2"/>`
  })
  const one = `<line class="one" x1="${px(x(1))}" x2="${px(x(1))}" y1="${top}" y2="${bottom}"/>`
  return `<svg viewBox="0 0 ${width} ${HEIGHT}" height="${HEIGHT}" role="img" aria-label="${escaped(ratio.said)}">
    ${grid(ticks(ratio.top), x, top, bottom)}${steps.join("")}${one}
    ${names}
    ${text(left - 6, top + 4, +tall.toPrecision(2), 'class="faint" text-anchor="end"')}
    ${text((left + right) / 2, HEIGHT - 6, "weight r", 'class="faint" text-anchor="middle"')}</svg>`
}

function block(finding, svg, caption) {
  return `<section><h2>${escaped(finding)}</h2>${svg}<p>${escaped(caption)}</p></section>`
}

export default function ({ data: bytes, parentElement }) {
  const data = JSON.parse(new TextDecoder().decode(bytes))
  const root = parentElement.querySelector(".live_inside")
  let at = null, frame = 0
  const redraw = () => {
    frame = 0
    const setting = data.settings[at]
    if (!setting) { root.innerHTML = ""; return }
    const columns = setting.ratio && root.clientWidth > 640 ? 2 : 1
    const width = Math.max((root.clientWidth - 24 * (columns - 1)) / columns, 260)
    const parts = [block(setting.finding, localPicture(data, setting, width), data.caption)]
    if (setting.ratio) {
      parts.push(block(setting.ratio.finding, ratioPicture(data, setting, width), data.ratioCaption))
    }
    root.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`
    root.innerHTML = parts.join("")
  }
  const hear = (event) => {
    if (event.detail !== at) { at = event.detail; redraw() }
  }
  document.addEventListener("fairdash-setting", hear)
  document.dispatchEvent(new Event("fairdash-where"))
  const watcher = new ResizeObserver(() => { frame ||= requestAnimationFrame(redraw) })
  watcher.observe(root)
  return () => {
    watcher.disconnect()
    cancelAnimationFrame(frame)
    document.removeEventListener("fairdash-setting", hear)
  }
}
