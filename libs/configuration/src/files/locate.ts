import { resourceKey } from '@carillon/domain';
import type { Fault, Spot, Warning } from '../checks/finding.ts';
import { pathText, type ValuePath } from '../value-path.ts';
import { templateFile } from './layout.ts';
import type { FileFault, FileWarning, Place } from './place.ts';
import type { YamlSource } from './yaml-source.ts';

/** The YAML file of each resource, by `resourceKey`. */
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
  const source = sources.get(resourceKey(ref));
  if (source === undefined) return { file: '', path: pathText(path), line: 1, column: 1 };
  if (ref.kind !== 'template') return inYaml(source, path, spot);
  const [, part] = path;
  if (part !== 'html' && part !== 'text') return inYaml(source, path.slice(1), spot);
  const file = templateFile(ref.workspace, ref.name, part);
  return { file, path: '', ...(typeof spot === 'string' ? { line: 1, column: 1 } : spot) };
}

function inYaml(source: YamlSource, path: ValuePath, spot: Spot): Located {
  const place =
    spot === 'key'
      ? source.keyPlace(path)
      : spot === 'value'
        ? source.valuePlace(path)
        : source.innerPlace(path, { line: spot.line, column: spot.column });
  return { file: source.file, path: pathText(path), ...place };
}
