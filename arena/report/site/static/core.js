// Shared by all pages. Text is set as text, never as markup.
"use strict";

const stage = document.querySelector(".replay");
const texts = JSON.parse(stage?.dataset.texts ?? "{}");
const part = (name) => stage.querySelector(`[data-${name}]`);

// A live region says only what has changed.
function put(name, text = "") {
  const place = part(name);
  if (place && place.textContent !== text) place.textContent = text;
}

function copyOf(template, values) {
  const made = template.content.firstElementChild.cloneNode(true);
  for (const place of made.querySelectorAll("[data-put]")) place.textContent = values[place.dataset.put];
  return made;
}

function set(node, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (node.getAttribute(key) !== String(value)) node.setAttribute(key, value);
  }
  return node;
}

function drawn(name, attributes = {}, ...children) {
  const made = set(document.createElementNS("http://www.w3.org/2000/svg", name), attributes);
  made.append(...children);
  return made;
}

const svgAddress = (svg) => "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);

const fill = (text, values = {}) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

const asked = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

const load = (src) => document.head.append(Object.assign(document.createElement("script"), { src }));
