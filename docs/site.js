// The lab does not run in a page that is opened as a file. There, a note replaces its frames.
if (location.protocol === "file:") {
  for (const frame of document.querySelectorAll("iframe.lab")) {
    const note = document.createElement("blockquote");
    note.textContent =
      "An experiment of the lab runs here if a web server delivers this page, for example `python3 -m http.server` in " +
      "the folder of the site. `bbrlab lab` shows the same experiment without the site.";
    frame.replaceWith(note);
  }
}
