import { canonical } from '@carillon/domain/configuration';
import { FILE_SHAPES, type FileKind, RESOURCE_SHAPES } from '@carillon/shapes';
import { type Document, isNode, parseDocument } from 'yaml';
import { isGroup, type ValuePath } from '../value-path.ts';
import { roleOf, yamlKind } from './layout.ts';
import { readFile } from './read-file.ts';
import { yamlOf } from './write-folder.ts';

/**
 * Merges an export into an existing file: the configuration of `exported`, with comments and order of the file. Keys
 * that exports do not have, because only the start of a process reads them, stay. An unreadable file is replaced.
 */
export function mergeFile(path: string, existing: string, exported: string): string {
  const role = roleOf(path);
  const kind =
    role.role === 'yaml' ? role.kind : role.role === 'template-part' ? yamlKind(role.file, role.locale) : null;
  return kind === null ? exported : mergeYaml(kind, path, existing, exported);
}

function mergeYaml(kind: FileKind, path: string, existing: string, exported: string): string {
  const before = readFile(kind, path, existing).body;
  const after = readFile(kind, path, exported).body;
  if (before === undefined || after === undefined) return exported;
  const wanted = kind === 'deployment' ? { ...startKeysOf(before), ...after } : after;
  if (canonical(before) === canonical(wanted)) return existing;
  const fresh = yamlOf(kind, wanted);
  const document = parseDocument(existing);
  update(document, parseDocument(fresh), [], before, wanted);
  const merged = document.toString({ lineWidth: 0 });
  return canonical(readFile(kind, path, merged).body) === canonical(wanted) ? merged : fresh;
}

/** Returns the keys of carillon.yaml that only the start of a process reads. */
const startKeysOf = (body: object): object =>
  Object.fromEntries(
    Object.entries(body).filter(
      ([key]) => key in FILE_SHAPES.deployment.shape && !(key in RESOURCE_SHAPES.deployment.shape),
    ),
  );

/** Brings a document to what is wanted, and touches nothing else in it. `fresh` holds what is wanted as export writes it. */
function update(document: Document, fresh: Document, path: ValuePath, before: unknown, wanted: unknown): void {
  if (canonical(before) === canonical(wanted)) return;
  if (!isGroup(before) || !isGroup(wanted)) return replace(document, fresh, path);
  for (const key of Object.keys(before)) if (!Object.hasOwn(wanted, key)) document.deleteIn([...path, key]);
  for (const [key, value] of Object.entries(wanted)) {
    if (Object.hasOwn(before, key)) update(document, fresh, [...path, key], before[key], value);
    else replace(document, fresh, [...path, key]);
  }
}

function replace(document: Document, fresh: Document, path: ValuePath): void {
  const old = document.getIn(path, true);
  const node = fresh.getIn(path, true);
  if (isNode(old) && isNode(node)) {
    if (old.comment !== undefined) node.comment = old.comment;
    if (old.commentBefore !== undefined) node.commentBefore = old.commentBefore;
  }
  document.setIn(path, node);
}
