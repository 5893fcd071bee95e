// What the scripts of all pages share. Text is set as text, never as markup.
"use strict";

const stage = document.querySelector(".replay"); // where the page shows a game, if it does
const texts = JSON.parse(stage?.dataset.texts ?? "{}");
const part = (name) => stage.querySelector(`[data-${name}]`);

// Put texts and nodes there, if they are not there yet: a live region says only what has changed.
function put(name, ...children) {
  const place = part(name);
  if (children.length > 1 || place?.textContent !== children[0]) place?.replaceChildren(...children);
}

function set(node, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (node.getAttribute(key) !== String(value)) node.setAttribute(key, value);
  }
}

// An element of HTML or, of these names, of SVG.
function element(name, attributes = {}, ...children) {
  const space = /^(svg|g|use|rect|path|text)$/.test(name) ? "2000/svg" : "1999/xhtml";
  const made = document.createElementNS("http://www.w3.org/" + space, name);
  set(made, attributes);
  made.append(...children);
  return made;
}

const svgAddress = (svg) => "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);

const fill = (text, values = {}) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

const asked = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

function load(script) {
  return new Promise((resolve, reject) => {
    const made = element("script", { src: script });
    made.onload = resolve;
    made.onerror = () => reject(new Error(script));
    document.head.append(made);
  });
}
