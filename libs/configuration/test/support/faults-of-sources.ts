import { readResourceBodies, type FileFault, type GivenResource, type WantedResource } from '@carillon/configuration';
import { type Configuration, type Resource, resourceKey } from '@carillon/domain/configuration';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { faultsOf, read } from './folder.ts';
import { reading } from './small-language.ts';

export type Files = Readonly<Record<string, string>>;

/** Returns the files with one text replaced. */
export function withTextOf(files: Files, from: string, to: string): Files {
  const found = Object.entries(files).filter(([, text]) => text.includes(from));
  if (found.length === 0) throw new Error(`no such text: ${from}`);
  return { ...files, ...Object.fromEntries(found.map(([file, text]) => [file, text.replace(from, () => to)])) };
}

/** Returns the bodies of the same files, as the API takes them. */
function bodiesOf(files: Files): readonly GivenResource[] {
  const own = Object.entries(files).map(([file, text]): GivenResource => {
    const [, folder = '', name = ''] = /(\w+)\/([\w-]+)\.yaml$/.exec(file) ?? [];
    const kind = folder.slice(0, -1) as 'stream' | 'integration' | 'notification';
    return { ref: { kind, workspace: 'shop', name }, body: parse(text) as unknown };
  });
  const isOwn = (kind: string, name: string): boolean => own.some(({ ref }) => ref.kind === kind && ref.name === name);
  return [...read({}).resources.filter(({ ref }) => !isOwn(ref.kind, ref.name)), ...own];
}

/** Returns place and code of each mistake. Files and bodies have the same ones. No mistake shows a secret. */
export function placesOf(files: Files): readonly string[] {
  const inFiles = faultsOf(files);
  const inBodies = readResourceBodies(bodiesOf(files), reading).faults;
  const textOf = ({ path, message, expected, fix }: Pick<FileFault, 'path' | 'message' | 'expected' | 'fix'>) =>
    [path, message, expected, fix].join(' | ');
  expect(inFiles.map(textOf).toSorted()).toEqual(inBodies.map(textOf).toSorted());
  const codes = new Map<string, string>(inBodies.map((fault) => [textOf(fault), fault.code]));
  expect(inFiles.filter(({ fix }) => fix === '')).toEqual([]);
  expect(JSON.stringify([inFiles, inBodies])).not.toContain('canary');
  return inFiles.map(
    (fault) => `${fault.file.split('/').at(-1) ?? ''}:${fault.line} ${fault.path} ${codes.get(textOf(fault)) ?? ''}`,
  );
}

/** Returns the configuration that has these resources. */
export function configurationOf(resources: readonly WantedResource[]): Configuration {
  const all = resources.map(({ ref, body }): [string, Resource] => [
    resourceKey(ref),
    { ref, body, number: 1, version: 1, ruleVersions: {} },
  ]);
  return { number: 1, resources: new Map(all) };
}
