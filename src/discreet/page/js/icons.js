// The signs of the page, drawn on a grid of 16 by 16.
import { html } from "/page/vendor/preact.js";

const PATHS = {
  ask: "M2.5 3.5h11v8h-6l-3 2.5v-2.5h-2z M5.5 7.5h5",
  data: "M8 2.2c3 0 5 .8 5 2s-2 2-5 2-5-.8-5-2 2-2 5-2z M3 4.2v7.6c0 1.2 2 2 5 2s5-.8 5-2V4.2 M3 8c0 1.2 2 2 5 2s5-.8 5-2",
  budget: "M8 2a6 6 0 1 0 6 6H8z M10.5 2.2A6 6 0 0 1 13.8 5.5h-3.3z",
  board: "M2.5 2.5h4.5v6H2.5z M9 2.5h4.5v3.5H9z M2.5 10.5H7v3H2.5z M9 8h4.5v5.5H9z",
  series: "M2 13.5h12 M2.5 10.5l3-3.5 3 2 5-6 M13.5 3v3.2 M13.5 3h-3.2",
  learn: "M1.5 13c3 0 3.5-9.5 6.5-9.5S11.5 13 14.5 13 M4.5 13c2.5 0 3.5-6 6-6",
  owner: "M8 1.8l5 2v4c0 3.2-2.2 5.4-5 6.4-2.8-1-5-3.2-5-6.4v-4z M5.8 8l1.6 1.6 2.8-3.1",
  link: "M6.5 9.5l3-3 M7 4.5l1.5-1.5a2.8 2.8 0 0 1 4 4L11 8.5 M9 11.5L7.5 13a2.8 2.8 0 0 1-4-4L5 7.5",
  down: "M8 2.5v8 M4.5 7.5L8 11l3.5-3.5 M3 13.5h10",
  copy: "M5.5 5.5h8v8h-8z M10.5 5.5v-3h-8v8h3",
  star: "M8 2l1.8 3.9 4.2.5-3.1 2.9.8 4.2L8 11.4 4.3 13.5l.8-4.2L2 6.4l4.2-.5z",
  info: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8z M8 7.2v4 M8 4.8v.3",
  stop: "M5.4 1.8h5.2l3.6 3.6v5.2l-3.6 3.6H5.4l-3.6-3.6V5.4z M8 4.8v4 M8 11v.3",
  check: "M3 8.5l3.2 3.2L13 4.8",
  moon: "M13.5 9.6A6 6 0 0 1 6.4 2.5a6 6 0 1 0 7.1 7.1z",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6z M8 1v1.6 M8 13.4V15 M1 8h1.6 M13.4 8H15 M3 3l1.1 1.1 M11.9 11.9L13 13 M13 3l-1.1 1.1 M4.1 11.9L3 13",
  key: "M10.5 2a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z M8 8l-5.5 5.5 M4.5 11.5l1.8 1.8",
  caret: "M4.5 6.5L8 10l3.5-3.5",
  plus: "M8 3v10 M3 8h10",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9z M10.5 10.5l3.5 3.5",
  clock: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8z M8 4.5V8l2.5 1.5",
  play: "M4.5 3l8 5-8 5z",
  x: "M4 4l8 8 M12 4l-8 8",
  people: "M6 2.8a2.4 2.4 0 1 0 0 4.8 2.4 2.4 0 0 0 0-4.8z M1.8 13.5c0-2.6 1.8-4.2 4.2-4.2s4.2 1.6 4.2 4.2 M10.5 3.2a2.2 2.2 0 0 1 0 4.2 M11.5 9.6c1.7.4 2.8 1.8 2.8 3.9",
  help: "M5.8 6a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.6 M8 11.8v.3",
  table: "M2 3h12v10H2z M2 6.5h12 M6.5 6.5V13",
  shuffle: "M2 4.5h2.5l5 7H13 M11 9.5l2 2-2 2 M2 11.5h2.5l1.3-1.8 M8.2 6.3l1.3-1.8H13 M11 2.5l2 2-2 2",
};

/** A sign that stands beside words, and says nothing to screen readers. */
export function Icon({ name, size = 16 }) {
  return html`<svg width=${size} height=${size} viewBox="0 0 16 16" fill="none" stroke="currentColor"
    stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d=${PATHS[name]} /></svg>`;
}

/** The mark of Discreet: two distributions that are almost equal. */
export function Mark({ size = 22 }) {
  return html`<svg class="mark" width=${size} height=${size} viewBox="0 0 24 24" fill="none" stroke="currentColor"
    stroke-width="2" stroke-linejoin="round" stroke-linecap="round" aria-hidden="true">
    <path d="M2 20C6.5 19 8.5 14 9.5 4c1 10 3 15 7.5 16" />
    <path d="M7 20c4.5-1 6.5-6 7.5-16 1 10 3 15 7.5 16" opacity=".45" /></svg>`;
}
