// Small figures beside a plane: what groups get, and the way along the slider.
const HEIGHT = 168, LEFT = 42, RIGHT = 132, TOP = 10, BOTTOM = 26

const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
const percent = (share) => (share === null ? "–" : `${Math.round(100 * share)}%`)

// the figures that two methods are compared by, in one line above each plane
function facts(stop) {
  const points = (share) => (share === null ? "–" : `${Math.round(100 * share)} pt`)
  const parts = [`${percent(stop.accuracy)} right`, `gap ${points(stop.gap)}`]
  if (stop.place) parts.push(`largest inside a quarter ${points(stop.largest_local_gap)}, ${stop.place}`)
  return parts.join(" · ")
}

function rates(data, view, width) {
  const stop = view.path[view.setting]
  const bars = data.groups.map((name, i) => {
    const rate = stop[`rate_${"AB"[i]}`], error = stop[`error_${"AB"[i]}`]
    const top = TOP + i * 44, room = width - LEFT - 90
    const length = room * (rate ?? 0)
    return `<text x="0" y="${top + 18}" font-weight="600">${escaped(name)}</text>
      <rect x="${LEFT}" y="${top + 4}" height="20" width="${length.toFixed(1)}" rx="3" fill="${data.colours[i]}"/>
      <text x="${(LEFT + length + 6).toFixed(1)}" y="${top + 19}">${percent(rate)} accepted</text>
      <text class="faint" x="${LEFT}" y="${top + 38}">${percent(error)} of those with outcome 1 refused</text>`
  })
  return `<svg viewBox="0 0 ${width} 98" height="98" role="img" aria-label="Accepted by group">${bars.join("")}</svg>`
}

const LINES = [
  ["accuracy", "right", ""],
  ["gap", "gap", "7 4"],
  ["largest_local_gap", "largest in a quarter", "2 3"],
]

function along(view, width) {
  const count = view.slider.stops.length, column = view.setting % count
  const path = view.path.slice(view.setting - column, view.setting - column + count)
  const inner = width - LEFT - RIGHT, tall = HEIGHT - TOP - BOTTOM
  const last = Math.max(count - 1, 1)
  const x = (i) => LEFT + (inner * i) / last, y = (value) => TOP + tall * (1 - value)
  const ends = []
  const lines = LINES.map(([key, label, dash]) => {
    const points = path.map((stop, i) => [i, stop[key]]).filter(([, v]) => v !== null)
    if (!points.length) return ""
    ends.push([y(points.at(-1)[1]), label])
    const line = points.map(([i, v]) => `${x(i).toFixed(1)},${y(v).toFixed(1)}`).join(" ")
    const dots = points.map(([i, v]) =>
      `<circle cx="${x(i).toFixed(1)}" cy="${y(v).toFixed(1)}" r="${i === column ? 5 : 2.5}" fill="currentColor"/>`)
    return `<polyline points="${line}" fill="none" stroke="currentColor" stroke-width="1.6" stroke-dasharray="${dash}"/>${dots.join("")}`
  })
  ends.sort((a, b) => a[0] - b[0])
  ends.forEach((end, i) => { if (i) end[0] = Math.max(end[0], ends[i - 1][0] + 14) })
  const labels = ends.map(([at, label]) =>
    `<text x="${LEFT + inner + 8}" y="${(at + 4).toFixed(1)}">${label}</text>`)
  const ticks = [0, 0.5, 1].map((v) =>
    `<line x1="${LEFT}" x2="${LEFT + inner}" y1="${y(v)}" y2="${y(v)}" stroke="currentColor" stroke-opacity=".15"/>
     <text class="faint" x="${LEFT - 6}" y="${y(v) + 4}" text-anchor="end">${percent(v)}</text>`)
  const marker = `<line x1="${x(view.place).toFixed(1)}" x2="${x(view.place).toFixed(1)}" y1="${TOP}" y2="${TOP + tall}"
    stroke="currentColor" stroke-width="1.5"/>`
  const feet = `<text class="faint" x="${LEFT}" y="${HEIGHT - 6}">${view.slider.stops[0]}</text>
    <text class="faint" x="${LEFT + inner}" y="${HEIGHT - 6}" text-anchor="end">${view.slider.stops.at(-1)}</text>`
  return `<svg viewBox="0 0 ${width} ${HEIGHT}" height="${HEIGHT}" role="img"
    aria-label="Accuracy and gaps along the slider">${ticks.join("")}${lines.join("")}${marker}${labels.join("")}${feet}</svg>`
}
