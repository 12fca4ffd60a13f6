// Surfaces of trained models as the browser gets them, and what lies between them.

const decode = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0))
// whole numbers of two bytes each, the lower one first
const decodePlaces = (text) => {
  const view = new DataView(decode(text).buffer)
  return Float32Array.from({ length: view.byteLength / 2 }, (_, i) => view.getInt16(2 * i, true) / 1000)
}

// the whole numbers around a place between stops, and how near it is to the second
function around(place, count) {
  const low = Math.min(Math.floor(place), count - 1)
  return [low, Math.min(low + 1, count - 1), place - low]
}

// NaN is nothing: the other one of two numbers stands for it
const mixed = (a, b, part) => (a !== a ? b : b !== b ? a : a * (1 - part) + b * part)

// Numbers between four trained settings; `pick` takes those of one setting.
// Settings are ordered by the second slider, then by the first.
function between(view, pick) {
  const count = view.slider?.stops.length ?? 1
  const [left, right, part] = around(view.place, count)
  const [lower, upper, rise] = around(view.secondPlace, view.second?.stops.length ?? 1)
  const at = (row, column) => pick(row * count + column)
  const a = at(lower, left), b = at(lower, right), c = at(upper, left), d = at(upper, right)
  const out = new Float32Array(a.length)
  for (let i = 0; i < a.length; i++) {
    out[i] = mixed(mixed(a[i], b[i], part), mixed(c[i], d[i], part), rise)
  }
  return out
}

// the same of bytes, as shares
const sharesBetween = (view, pick) => between(view, pick).map((level) => level / 255)

const surface = (view, group) => sharesBetween(view, (setting) => view.surfaces[setting][group])

// where the surface crosses a level: segments by cell, linear along its sides
function contour(values, side, level = 0.5) {
  const path = []
  const at = (i, j) => values[j * side + i] - level
  const cross = (p, q, a, b) => {
    const share = a / (a - b)
    return [p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1])]
  }
  for (let j = 0; j + 1 < side; j++) {
    for (let i = 0; i + 1 < side; i++) {
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]]
      const points = []
      for (let k = 0; k < 4; k++) {
        const p = corners[k], q = corners[(k + 1) % 4]
        const a = at(...p), b = at(...q)
        if (a > 0 !== b > 0) points.push(cross(p, q, a, b))
      }
      for (let k = 0; k + 1 < points.length; k += 2) path.push([points[k], points[k + 1]])
    }
  }
  return path
}

function channels(colour) {
  const probe = new OffscreenCanvas(1, 1).getContext("2d")
  probe.fillStyle = colour
  probe.fillRect(0, 0, 1, 1)
  return probe.getImageData(0, 0, 1, 1).data.slice(0, 3)
}

// a picture of a grid; `colour` returns red, green, blue and alpha, to 255, of a value
function picture(values, side, colour) {
  const image = new ImageData(side, side)
  for (let j = 0; j < side; j++) {
    for (let i = 0; i < side; i++) {
      image.data.set(colour(values[j * side + i]), 4 * ((side - 1 - j) * side + i))
    }
  }
  const canvas = new OffscreenCanvas(side, side)
  canvas.getContext("2d").putImageData(image, 0, 0)
  return canvas
}

// draws it so that the middle of each pixel is a point of the grid
function spread(pen, canvas, size) {
  const cell = size / (canvas.width - 1)
  pen.imageSmoothingEnabled = true
  pen.drawImage(canvas, -cell / 2, -cell / 2, size + cell, size + cell)
}

// one hue, the stronger the likelier outcome 1
function tint(values, side, accent) {
  const [r, g, b] = channels(accent)
  return picture(values, side, (share) => [r, g, b, Math.round(share * 96)])
}
