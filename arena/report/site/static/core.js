// What the other scripts of the pages use. All text is set as text, never as markup.
"use strict";

const stage = document.querySelector(".replay"); // where the page shows a game, if it does
const texts = JSON.parse(stage?.dataset.texts ?? "{}");
const part = (name) => stage.querySelector(`[data-${name}]`);
const put = (name, ...children) => part(name)?.replaceChildren(...children);

// An element of HTML or, of these names, of SVG.
function element(name, attributes = {}, ...children) {
  const space = /^(svg|g|use|rect|path|text)$/.test(name) ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml";
  const made = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// An image of a text that is SVG: as an image it runs nothing and loads nothing.
const svgAddress = (svg) => "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);

// A text with values in place of their names in braces.
const fill = (text, values = {}) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

// What the address says behind its #, by name.
const asked = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

function load(script) {
  return new Promise((resolve, reject) => {
    const made = element("script", { src: script });
    made.onload = resolve;
    made.onerror = () => reject(new Error(script));
    document.head.append(made);
  });
}
