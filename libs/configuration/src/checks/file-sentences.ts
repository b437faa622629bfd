import type { ResourceRef } from '@carillon/domain/configuration';
import type { CodedFault } from '@carillon/kernel';
import { describeFault } from '@carillon/kernel/faults';
import {
  FILE_KINDS,
  fileOf,
  LAYOUT_FILES,
  layoutFile,
  partialFile,
  templateFile,
  TEMPLATE_FILES,
  TEMPLATE_YAML,
  type LayoutFile,
  type TemplateFile,
  type TemplateYaml,
} from '../files/layout.ts';
import { pathText, type ValuePath } from '../value-path.ts';

/** Text of a mistake in a file: the mistake, the expected content, and what to do. */
export type FileSentences = { readonly message: string; readonly expected: string; readonly fix: string };

const KIND_NAMES: Readonly<Record<string, string>> = { jwt_provider: 'JWT provider', api_key: 'API key' };
const kindName = (kind: string): string => KIND_NAMES[kind] ?? kind;
const same = (text: string): string => text;

/** Returns the sentences of a fault for people who write files, with keys and paths of files. */
export function sentencesInFile(coded: CodedFault, ref: ResourceRef, path: ValuePath): FileSentences {
  const { kind, workspace, name } = ref;
  const { message, expected, fix } = describeFault(coded, {
    label: String(path.at(-1) ?? `the ${kindName(kind)}`),
    kind,
    workspace,
    name,
    path: pathText(path),
    quote: same,
    kindName,
    channelNames: (channels) => channels.replaceAll(', ', ' and '),
    partName: (_kind, part) => part,
    remark: same,
    file: (of, named, part) => fileNamed(of, workspace, named, part),
  });
  return { message, expected, fix };
}

/** Path of the file of a resource. Of a template it is the main file of a channel, or its folder if no such channel exists. */
function fileNamed(kind: string, workspace: string, name: string, part?: string): string {
  if (kind === 'workspace') return fileOf('workspace', name, '');
  if (kind === 'partial') return partialFile(workspace, name);
  if (kind === 'layout') return layoutFile(workspace, name, layoutEnding(part ?? 'html'));
  if (kind !== 'template') return fileOf(FILE_KINDS[kind as keyof typeof FILE_KINDS], workspace, name);
  return templateFile(workspace, name, mainFile(part ?? 'email'));
}

const layoutEnding = (part: string): LayoutFile =>
  (Object.entries(LAYOUT_FILES).find(([, held]) => held === part)?.[0] ?? 'html') as LayoutFile;

/** The file that a channel of a template cannot do without. */
function mainFile(channel: string): TemplateFile | TemplateYaml {
  const yaml = Object.entries(TEMPLATE_YAML).find(([, held]) => held.channel === channel);
  const text = Object.entries(TEMPLATE_FILES).find(([, [held]]) => held === channel);
  return (yaml?.[0] ?? text?.[0] ?? 'email.yaml') as TemplateFile | TemplateYaml;
}
