import type { FileFault } from './place.ts';
import { readFile } from './read-file.ts';
import type { StartSettings } from '@carillon/shapes';

/** Reads carillon.yaml for the start of a process: all mistakes of the file at once, or what it says. */
export function readStartSettings(
  file: string,
  text: string,
): { readonly settings: StartSettings; readonly faults: readonly FileFault[] } {
  const { body, faults } = readFile('deployment', file, text);
  return { settings: body ?? {}, faults };
}
