import type { z } from 'zod';
import { casesShape, type CaseFileBody, type CaseStep } from '@carillon/shapes';
import { mistakesOf } from './mistakes.ts';
import type { FileFault, Place } from './place.ts';
import { readYaml } from './yaml-source.ts';

/** A line of a case with its place in the file. */
export type PlacedStep = CaseStep & { readonly place: Place };

/** A case. Its events and expected messages are in the order of time. */
export type RuleCase = { readonly name: string; readonly place: Place; readonly steps: readonly PlacedStep[] };

/** Test cases of one rule, from one file. */
export type CaseFile = Pick<CaseFileBody, 'lookups'> & {
  readonly file: string;
  readonly workspace: string;
  /** `notification.rule` */
  readonly rule: string;
  readonly rulePlace: Place;
  readonly cases: readonly RuleCase[];
};

const CASE_FILE = /^workspaces\/([^/]+)\/tests\/[^/]+\.yaml$/;

/** Reads the cases of a configuration folder. Other files are left out. Every mistake of every file comes at once. */
export function readCases(files: ReadonlyMap<string, string>): {
  readonly files: readonly CaseFile[];
  readonly faults: readonly FileFault[];
} {
  const read: CaseFile[] = [];
  const faults: FileFault[] = [];
  for (const [path, text] of files) {
    const workspace = CASE_FILE.exec(path)?.[1];
    if (workspace === undefined) continue;
    const source = readYaml(path, text, { takesNull: true });
    const parsed = source.faults.length > 0 ? null : casesShape.safeParse(source.value);
    if (!parsed?.success) {
      faults.push(...source.faults, ...mistakesOf(withoutEchoes(parsed?.error.issues ?? []), source.value, source));
      continue;
    }
    const { rule, lookups, cases } = parsed.data;
    read.push({
      file: path,
      workspace,
      rule,
      ...(lookups && { lookups }),
      rulePlace: source.valuePlace(['rule']),
      cases: Object.entries(cases).map(([name, steps]) => ({
        name,
        place: source.keyPlace(['cases', name]),
        steps: steps.map((step, at) => ({ ...step, place: source.valuePlace(['cases', name, at]) })),
      })),
    });
  }
  return { files: read, faults };
}

type Issue = z.core.$ZodIssue;

/** A line with an unknown key has one mistake: that it also lacks a known key follows from it. */
function withoutEchoes(issues: readonly Issue[]): readonly Issue[] {
  const unknown = new Set(issues.flatMap(({ code, path }) => (code === 'unrecognized_keys' ? [path.join('/')] : [])));
  return issues.filter(({ code, path }) => code !== 'custom' || !unknown.has(path.join('/')));
}
