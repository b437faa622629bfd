import { resourceKey, type ResourceRef } from '@carillon/domain/configuration';
import type { Fault, Spot, Warning } from '../checks/finding.ts';
import { pathText, type ValuePath } from '../value-path.ts';
import {
  LAYOUT_FILES,
  layoutFile,
  partialFile,
  TEMPLATE_FILES,
  templateFile,
  type LayoutFile,
  type TemplateFile,
} from './layout.ts';
import type { FileFault, FileWarning, Place } from './place.ts';
import type { YamlSource } from './yaml-source.ts';

/** The YAML file of each resource, by `resourceKey`; those of templates by `templateSourceKey`. */
export type Sources = ReadonlyMap<string, YamlSource>;
type Located = Place & { readonly file: string; readonly path: string };

export const faultAt = (sources: Sources, fault: Fault): FileFault => ({
  ...locate(sources, fault),
  message: fault.message,
  expected: fault.expected,
  fix: fault.fix,
});

export const warningAt = (sources: Sources, warning: Warning): FileWarning => ({
  ...locate(sources, warning),
  message: warning.message,
  fix: warning.fix,
});

/**
 * Returns the position of a resource's path in a folder. If the folder does not contain the resource: the first line of
 * no file.
 */
function locate(sources: Sources, { ref, path, spot }: Warning): Located {
  if (ref.kind === 'template') return inTemplate(sources, ref, path, spot);
  if (ref.kind === 'layout') return inLayout(ref, path, spot);
  if (ref.kind === 'partial') return inFile(partialFile(ref.workspace, ref.name), spot);
  const source = sources.get(resourceKey(ref));
  return source === undefined ? nowhere(path) : inYaml(source, path, spot);
}

const nowhere = (path: ValuePath): Located => ({ file: '', path: pathText(path), line: 1, column: 1 });

/**
 * Locates a path in a template. The path begins with the channel and the language, if any, and continues in the
 * channel's YAML file or with a part in a separate file.
 */
function inTemplate(sources: Sources, ref: ResourceRef, path: ValuePath, spot: Spot): Located {
  const [channel, next, language] = path;
  const locale = next === 'locales' && language !== undefined ? String(language) : null;
  const inner = path.slice(locale === null ? 1 : 3);
  const own = Object.entries(TEMPLATE_FILES).find(([, held]) => held[0] === channel && held[1] === inner[0]);
  if (own) return inFile(templateFile(ref.workspace, ref.name, own[0] as TemplateFile, locale), spot);
  const source = sources.get(templateSourceKey(ref, String(channel), locale));
  if (source) return inYaml(source, inner, spot);
  // A channel without a YAML file is its one part.
  const only = Object.entries(TEMPLATE_FILES).filter(([, held]) => held[0] === channel);
  const [file] = only.length === 1 ? (only[0] ?? []) : [];
  return file === undefined
    ? nowhere(path)
    : inFile(templateFile(ref.workspace, ref.name, file as TemplateFile, locale), spot);
}

const inFile = (file: string, spot: Spot): Located => ({
  file,
  path: '',
  ...(typeof spot === 'string' ? { line: 1, column: 1 } : { line: spot.line, column: spot.column }),
});

function inLayout(ref: ResourceRef, [key]: ValuePath, spot: Spot): Located {
  const [file] = Object.entries(LAYOUT_FILES).find(([, held]) => held === key) ?? ['html'];
  return inFile(layoutFile(ref.workspace, ref.name, file as LayoutFile), spot);
}

/** Returns the key of one template file. Each channel has separate files per language. */
export const templateSourceKey = (ref: ResourceRef, channel: string, locale: string | null): string =>
  `${resourceKey(ref)} ${channel} ${locale ?? ''}`;

function inYaml(source: YamlSource, path: ValuePath, spot: Spot): Located {
  const place =
    spot === 'key'
      ? source.keyPlace(path)
      : spot === 'value'
        ? source.valuePlace(path)
        : source.innerPlace(path, { line: spot.line, column: spot.column });
  return { file: source.file, path: pathText(path), ...place };
}
