// A view to be written.
import { html } from "/page/vendor/preact.js";

export default function View() {
  return html`<div class="page"><h1>budget</h1></div>`;
}
