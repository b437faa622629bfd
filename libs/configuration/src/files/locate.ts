import { resourceKey, type ResourceRef } from '@carillon/domain';
import type { Fault, Spot, Warning } from '../checks/finding.ts';
import { pathText, type ValuePath } from '../value-path.ts';
import { TEMPLATE_FILES, templateFile, type TemplateFile } from './layout.ts';
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

/** Where in a folder the path of a resource stands: the first line of no file, where the folder does not speak of it. */
function locate(sources: Sources, { ref, path, spot }: Warning): Located {
  if (ref.kind === 'template') return inTemplate(sources, ref, path, spot);
  const source = sources.get(resourceKey(ref));
  return source === undefined ? nowhere(path) : inYaml(source, path, spot);
}

const nowhere = (path: ValuePath): Located => ({ file: '', path: pathText(path), line: 1, column: 1 });

/** A template's path begins with its channel, and goes on in the channel's YAML file or with a part that has its own. */
function inTemplate(sources: Sources, ref: ResourceRef, path: ValuePath, spot: Spot): Located {
  const [channel, part] = path;
  const own = Object.entries(TEMPLATE_FILES).find(([, held]) => held[0] === channel && held[1] === part);
  if (own) {
    const file = templateFile(ref.workspace, ref.name, own[0] as TemplateFile);
    return { file, path: '', ...(typeof spot === 'string' ? { line: 1, column: 1 } : spot) };
  }
  const source = sources.get(templateSourceKey(ref, String(channel)));
  return source === undefined ? nowhere(path) : inYaml(source, path.slice(1), spot);
}

/** Of a template each channel has a file of its own. */
export const templateSourceKey = (ref: ResourceRef, channel: string): string => `${resourceKey(ref)} ${channel}`;

function inYaml(source: YamlSource, path: ValuePath, spot: Spot): Located {
  const place =
    spot === 'key'
      ? source.keyPlace(path)
      : spot === 'value'
        ? source.valuePlace(path)
        : source.innerPlace(path, { line: spot.line, column: spot.column });
  return { file: source.file, path: pathText(path), ...place };
}
