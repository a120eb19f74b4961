/** Draws a chart over time. Its latest values are also shown as text; screen readers receive only the chart's name. */
import uPlot from 'uplot';
import { language, toFigure } from './language.js';
import { html, useEffect, useRef, useState } from './ui.js';

/**
 * @typedef {{ title: string, at: readonly number[], lines: readonly { label: string, values: readonly number[], colour:
 * '--good' | '--alarm' | '--link' }[] }} Plotted
 */

const height = 180;
const clock = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit' });
const amount = new Intl.NumberFormat(language, { notation: 'compact' });
/** Allowed intervals between axis labels, which are counts. */
const steps = Array.from({ length: 10 }, (_value, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();
const minutes = [1, 2, 5, 10, 30, 60, 120, 240].map((count) => 60 * count);
const scheme = matchMedia('(prefers-color-scheme: dark)');

/** @param {Plotted} plotted */
export function Plot({ title, at, lines }) {
  const container = /** @type {{ current: HTMLElement | null }} */ (useRef(null));
  const [isDark, setDark] = useState(scheme.matches);
  const chart = /** @type {{ current: uPlot | null }} */ (useRef(null));
  /** @type {any} */
  const data = [at, ...lines.map(({ values }) => values)];

  useEffect(() => {
    const update = () => setDark(scheme.matches);
    scheme.addEventListener('change', update);
    return () => scheme.removeEventListener('change', update);
  }, []);
  useEffect(() => {
    const element = container.current;
    if (element === null) return undefined;
    const style = getComputedStyle(document.documentElement);
    /** @param {string} name */
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = {
      stroke: colour('--faint'),
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { stroke: colour('--line'), width: 1 },
    };
    const options = {
      width: element.clientWidth,
      height,
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { range: lastMinutes }, y: { range: fromZero } },
      axes: [
        { ...axis, incrs: minutes, space: 60, size: 30, values: writeTimes },
        { ...axis, incrs: steps, values: writeAmounts },
      ],
      series: [
        {},
        ...lines.map((line) => ({
          label: line.label,
          stroke: colour(line.colour),
          width: 2,
          points: { show: isAlone },
        })),
      ],
    };
    const plot = new uPlot(options, data, element);
    chart.current = plot;
    const fit = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    fit.observe(element);
    return () => {
      fit.disconnect();
      plot.destroy();
      chart.current = null;
    };
  }, [isDark, lines.length]);
  useEffect(() => {
    chart.current?.setData(data);
  }, [at.length]);

  return html`<figure class="plot">
    <figcaption>
      <strong>${title}</strong>
      ${lines.map(
        ({ label, values, colour }) =>
          html`<span class=${`line ${colour.slice(2)}`}
            >${label} <b>${toFigure(Math.round(values.at(-1) ?? 0))}</b></span
          >`,
      )}
    </figcaption>
    <div ref=${container} role="img" aria-label=${`${title}, since this page was opened`}></div>
  </figure>`;
}

/**
 * @param {unknown} _plot
 * @param {number} _low
 * @param {number} high
 * @returns {[number, number]}
 */
function fromZero(_plot, _low, high) {
  return [0, Math.max(1, high * 1.1)];
}

/** @param {unknown} _plot @param {readonly number[]} values seconds since 1970 */
function writeTimes(_plot, values) {
  return values.map((seconds) => clock.format(seconds * 1_000));
}

/** @param {unknown} _plot @param {readonly number[]} values */
function writeAmounts(_plot, values) {
  return values.map((count) => amount.format(count));
}

/** Returns whether there is only one value, which cannot be drawn as a line. @param {uPlot} plot */
function isAlone({ data: [at] }) {
  return at.length < 2;
}

/**
 * Returns a time range of at least five minutes that ends with the latest value.
 * @param {unknown} _plot
 * @param {number} low
 * @param {number} high
 * @returns {[number, number]}
 */
function lastMinutes(_plot, low, high) {
  return [Math.min(low, high - 300), high];
}
