// Sets light or dark before anything is drawn, so that nothing flashes.
(() => {
  const chosen = localStorage.getItem("discreet-theme");
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
