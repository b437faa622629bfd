import { createExpressionLanguage } from '@carillon/adapter-cel';
import { createTemplateRenderer } from '@carillon/adapter-handlebars';
import { createMjmlCompiler } from '@carillon/adapter-mjml';
import { createEventLoopSlice, createIds, createLinkTokens } from '@carillon/adapter-system';
import { readCases, type CaseFile, type FileFault } from '@carillon/configuration';
import { configurationOfFolder, type RuleTestPorts } from '@carillon/control';
import {
  findRule,
  listResources,
  readRuleTitle,
  type Configuration,
  type PlacedRule,
} from '@carillon/domain/configuration';
import { compileRule } from '@carillon/domain/rules';
import { similarTo } from '@carillon/kernel';
import { createRuleBook } from '@carillon/stages';
import { runCase, type CaseResult } from './run-case.ts';

/** Results of the cases of a folder, or the mistakes that prevent a run. */
export type FolderRun = {
  readonly faults: readonly FileFault[];
  readonly results: readonly CaseResult[];
};

/** Key for links and ids. Any value is safe, because the command sends no message. */
const KEY = new Uint8Array(32);

/** Runs the cases of a configuration folder in this process, with a virtual clock. Nothing is read but the files. */
export async function runFolder(files: ReadonlyMap<string, string>): Promise<FolderRun> {
  const expressions = createExpressionLanguage();
  const templates = createTemplateRenderer();
  const mjml = createMjmlCompiler();
  try {
    const { ids, slice } = { ids: createIds(KEY), slice: createEventLoopSlice() };
    const cases = readCases(files);
    const read = await configurationOfFolder(files, { expressions, templates, mjml, ids, slice });
    const faults = [...cases.faults, ...read.faults];
    if (faults.length > 0) return { faults, results: [] };
    const { configuration } = read;
    const compile = (placed: PlacedRule) => compileRule(placed, expressions);
    const ports: RuleTestPorts = {
      ids,
      slice,
      templates,
      links: createLinkTokens(KEY),
      book: createRuleBook(compile, templates),
      configuration: { current: () => configuration },
      ledger: { get: async () => null },
      ...NO_PARTNERS,
    };
    return await runFiles(cases.files, compile, ports);
  } finally {
    await templates.close();
    await mjml.close();
  }
}

/** Answers of partners come from the files of cases. */
const NO_PARTNERS: Pick<RuleTestPorts, 'partners' | 'secrets'> = {
  partners: { ask: () => Promise.reject(new Error('a case asks no partner')) },
  secrets: { resolve: async () => null, locate: async () => 'nowhere' },
};

async function runFiles(
  files: readonly CaseFile[],
  compile: (placed: PlacedRule) => ReturnType<typeof compileRule>,
  ports: RuleTestPorts,
): Promise<FolderRun> {
  const configuration = ports.configuration.current();
  const faults: FileFault[] = [];
  const results: CaseResult[] = [];
  for (const file of files) {
    const name = readRuleTitle(file.rule);
    const placed = name && findRule(configuration, file.workspace, name);
    const rule = placed && compile(placed);
    if (!rule?.ok) {
      faults.push(unknownRule(file, configuration));
      continue;
    }
    for (const ruleCase of file.cases) results.push(await runCase(file, ruleCase, rule.value, ports));
  }
  return faults.length > 0 ? { faults, results: [] } : { faults, results };
}

function unknownRule({ file, workspace, rule, rulePlace }: CaseFile, configuration: Configuration): FileFault {
  const rules = listResources(configuration, 'notification', workspace).flatMap(({ ref, body }) =>
    Object.keys(body.rules).map((name) => `${ref.name}.${name}`),
  );
  const meant = similarTo(rule, rules);
  const fix = meant === null ? `write one of ${rules.join(', ') || 'its rules; it has none'}` : `write ${meant}`;
  const message = `workspace ${workspace} has no rule ${rule}`;
  return { file, path: 'rule', ...rulePlace, message, expected: 'a rule of the folder', fix };
}
