import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';

export const KUBERNETES_FOLDER = resolve(import.meta.dirname, '../../../../deploy/kubernetes');

/** One object of a manifest file. */
export type Manifest = {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  /** Content, which differs by kind. Tests name the expected type. */
  readonly spec?: unknown;
};

/** All objects of `deploy/kubernetes`, file by file. */
export function readManifests(): readonly Manifest[] {
  const files = readdirSync(KUBERNETES_FOLDER).filter((file) => file.endsWith('.yaml'));
  return files
    .filter((file) => file !== 'kustomization.yaml')
    .flatMap((file) => parseAllDocuments(readFileSync(join(KUBERNETES_FOLDER, file), 'utf8')))
    .map((document) => document.toJS() as Manifest);
}
