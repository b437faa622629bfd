import { caseTitle, failureText, isFailed } from './case-text.ts';
import type { CaseResult } from './run-case.ts';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** Characters that XML 1.0 has no form for. */
const NO_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const xml = (text: string): string =>
  text.replaceAll(NO_XML, ' ').replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);

/** Returns a JUnit report: a suite for each file of cases. */
export function junitReport(results: readonly CaseResult[]): string {
  const suites = [...new Set(results.map(({ file }) => file))].map((file) => {
    const own = results.filter((result) => result.file === file);
    const head = `name="${xml(file.file)}" tests="${own.length}" failures="${own.filter(isFailed).length}"`;
    return `  <testsuite ${head}>\n${own.map(testCase).join('')}  </testsuite>\n`;
  });
  const head = `tests="${results.length}" failures="${results.filter(isFailed).length}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${head}>\n${suites.join('')}</testsuites>\n`;
}

function testCase(result: CaseResult): string {
  const { file, ruleCase } = result;
  const head = `    <testcase classname="${xml(file.rule)}" name="${xml(ruleCase.name)}" file="${xml(file.file)}" line="${ruleCase.place.line}"`;
  if (!isFailed(result)) return `${head}/>\n`;
  return `${head}>\n      <failure message="${xml(caseTitle(result))}">${xml(failureText(result))}</failure>\n    </testcase>\n`;
}
