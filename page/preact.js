// What the page uses to draw: components, state, and templates that need no compiler.
import { signal, computed, effect, batch, useSignal, useComputed } from "@preact/signals";
import htm from "htm";
import { h, render, Fragment } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

const html = htm.bind(h);
export {
  Fragment, batch, computed, effect, h, html, render, signal, useComputed, useEffect, useMemo,
  useRef, useSignal, useState,
};
