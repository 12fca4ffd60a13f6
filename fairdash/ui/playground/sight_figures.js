// The figure beside a plane that shows what the method itself sees.
const FIGURE = 150, AXIS = 18

const frame = (width, label, parts, height = FIGURE) =>
  `<svg viewBox="0 0 ${width} ${height}" height="${height}" role="img" aria-label="${escaped(label)}">${parts.flat().join("")}</svg>`

const tickText = (x, y, text, anchor = "middle") =>
  `<text class="faint" x="${x.toFixed(1)}" y="${y}" text-anchor="${anchor}">${text}</text>`

// both groups by output, and between them what the adversary guesses there
function outputFigure(data, view, stops, width) {
  const numbers = (pick) => between(view, (setting) => pick(stops[setting]))
  const groups = [0, 1].map((group) => numbers((stop) => stop.outputs[group]))
  const guesses = numbers((stop) => stop.guesses)
  const colour = guessColour(data.colours.map(channels), stops[view.setting].share)
  const room = width - LEFT, bin = room / guesses.length
  const tall = 48, strip = 14, most = Math.max(...groups[0], ...groups[1], 0.01)
  const bars = groups.map((shares, group) =>
    [...shares].map((share, k) => {
      const height = (tall * share) / most
      const top = group ? tall + strip + 2 : tall - height
      return `<rect x="${(LEFT + k * bin + 0.5).toFixed(1)}" y="${top.toFixed(1)}" width="${(bin - 1).toFixed(1)}" height="${height.toFixed(1)}" fill="${data.colours[group]}"/>`
    }))
  const cells = [...guesses].map((guess, k) => {
    if (guess !== guess) return ""
    const [r, g, b, alpha] = colour(guess)
    return `<rect x="${(LEFT + k * bin).toFixed(1)}" y="${tall + 1}" width="${bin.toFixed(1)}" height="${strip}" fill="rgb(${r} ${g} ${b} / ${(alpha / 255).toFixed(3)})"/>`
  })
  const edge = `<rect x="${LEFT}" y="${tall + 1}" width="${room}" height="${strip}" fill="none" stroke="currentColor" stroke-opacity=".4"/>`
  const foot = 2 * tall + strip + 16
  const labels = [
    `<text x="0" y="${tall - 4}" font-weight="600">${escaped(data.groups[0])}</text>`,
    `<text class="faint" x="0" y="${tall + 12}">guess</text>`,
    `<text x="0" y="${tall + strip + 16}" font-weight="600">${escaped(data.groups[1])}</text>`,
    tickText(LEFT, foot, "0", "start"), tickText(LEFT + room / 2, foot, "output P(ŷ = 1)"), tickText(width, foot, "1", "end"),
  ]
  return frame(width, "People of both groups by output, and the adversary's guess", [bars, cells, edge, labels].flat(), foot + 4)
}

// the output of people across, that of their counterparts upward
function pairFigure(data, view, stops, width, state) {
  const before = sharesBetween(view, (setting) => stops[setting].before)
  const after = sharesBetween(view, (setting) => stops[setting].after)
  const box = FIGURE - AXIS - 4
  const x = (share) => LEFT + box * share, y = (share) => 4 + box * (1 - share)
  const marks = stops[0].who.map((who, k) => {
    const group = state.people.group[who], [cx, cy] = [x(before[k]), y(after[k])]
    const paint = `fill="${data.colours[group]}" fill-opacity=".8"`
    return group
      ? `<rect x="${(cx - 3).toFixed(1)}" y="${(cy - 3).toFixed(1)}" width="6" height="6" ${paint}/>`
      : `<circle cx="${cx.toFixed(1)}" cy="${cy.toFixed(1)}" r="3.2" ${paint}/>`
  })
  const lines = `<rect x="${LEFT}" y="4" width="${box}" height="${box}" fill="none" stroke="currentColor" stroke-opacity=".3"/>
    <line x1="${x(0)}" y1="${y(0)}" x2="${x(1)}" y2="${y(1)}" stroke="currentColor" stroke-opacity=".6"/>`
  const right = LEFT + box + 10
  const labels = [
    tickText(LEFT - 6, y(1) + 8, "1", "end"), tickText(LEFT - 6, y(0), "0", "end"),
    tickText(LEFT + box / 2, FIGURE - 4, "output of the person"),
    tickText(right, y(0.5), "up: of the counterpart", "start"),
    tickText(right, y(0.5) + 18, "on the line: alike", "start"),
  ]
  return frame(width, "Outputs of people and of their counterparts", [lines, marks, labels])
}

// the chance after a rule by the score before it
function ruleFigure(data, view, stops, width) {
  const room = width - LEFT - 60, tall = FIGURE - AXIS - 10
  const x = (score) => (LEFT + room * score).toFixed(1), y = (chance) => (6 + tall * (1 - chance)).toFixed(1)
  const ends = []
  const lines = data.colours.map((colour, group) => {
    const flat = between(view, (setting) => stops[setting].knots[group])
    const path = []
    for (let k = 0; k < flat.length; k += 2) path.push(`${x(flat[k])},${y(flat[k + 1])}`)
    ends.push([6 + tall * (1 - flat.at(-1)), data.groups[group]])
    return `<polyline points="${path.join(" ")}" fill="none" stroke="${colour}" stroke-width="2.4" stroke-dasharray="${group ? "6 3" : ""}"/>`
  })
  if (Math.abs(ends[1][0] - ends[0][0]) < 14) ends[1][0] = ends[0][0] + 14
  const labels = ends.map(([at, name]) => `<text x="${LEFT + room + 8}" y="${at + 4}">${escaped(name)}</text>`)
  const axes = `<line x1="${x(0)}" y1="${y(0)}" x2="${x(1)}" y2="${y(0)}" stroke="currentColor" stroke-opacity=".3"/>`
  const ticks = [
    tickText(LEFT - 6, 12, "100%", "end"), tickText(LEFT - 6, 6 + tall, "0%", "end"),
    tickText(LEFT, FIGURE - 4, "0", "start"), tickText(LEFT + room / 2, FIGURE - 4, "score before"), tickText(LEFT + room, FIGURE - 4, "1", "end"),
  ]
  return frame(width, "Chance after the rule by the score before it", [axes, lines, labels, ticks])
}

// what is accepted as recorded (filled), and in the worst case for a group (open)
function worstFigure(data, view, stops, width) {
  const room = width - LEFT - 16, row = 34
  const x = (share) => (LEFT + room * share).toFixed(1)
  const numbers = (name) => between(view, (setting) => [stops[setting][name]].flat().map((share) => share ?? NaN))
  const recorded = numbers("recorded"), worst = numbers("worst"), [overall] = numbers("overall")
  const rows = data.groups.map((name, group) => {
    const y = 18 + row * group, paint = `stroke="${data.colours[group]}" stroke-width="2.4"`
    const label = `<text x="0" y="${y + 4}" font-weight="600">${escaped(name)}</text>`
    if (recorded[group] !== recorded[group]) return label
    return `${label}<line x1="${x(recorded[group])}" x2="${x(worst[group])}" y1="${y}" y2="${y}" ${paint}/>
      <circle cx="${x(worst[group])}" cy="${y}" r="5.5" fill="var(--st-background-color)" ${paint}/>
      <circle cx="${x(recorded[group])}" cy="${y}" r="5.5" fill="${data.colours[group]}" ${paint}/>`
  })
  const low = 18 + row + 16
  const all = `<line x1="${x(overall)}" x2="${x(overall)}" y1="4" y2="${low}" stroke="currentColor" stroke-dasharray="3 3"/>`
  const labels = [
    tickText(LEFT, low + 14, "0%", "start"), tickText(LEFT + room, low + 14, "100%", "end"),
    tickText(LEFT + room / 2, low + 30, "filled: recorded, open: worst case, dashed: all people"),
  ]
  return frame(width, "Share accepted as recorded and in the worst case", [all, rows, labels], low + 36)
}

const SIGHT_FIGURES = { guess: outputFigure, counterparts: pairFigure, rules: ruleFigure, records: worstFigure }

function sightFigure(state, view, width) {
  const sees = sightOf(state, view)
  return sees ? SIGHT_FIGURES[sees.kind](state.data, view, sees.stops, width, state) : ""
}
