import type { Command, Option } from 'commander';

/** Options that most commands take; the page lists them once. */
const SHARED = ['--json', '--url', '--data-dir', '--workspace'];

/** The page describes an option once if this many commands describe it in the same words. */
const MIN_COMMANDS = 3;

const INTRODUCTION = `# Commands

For everybody who uses the shell: each command of \`npx carillon\`, as its \`--help\` prints it. This page is written from the program.

Times are in the time zone of the workspace, with their offset from UTC. Over several workspaces, and in JSON, they are in UTC.
Commands that ask a running Carillon take these options:

`;

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;');

const row = ({ flags, description, mandatory, defaultValue }: Option): string => {
  const facts = [mandatory ? 'required' : '', typeof defaultValue === 'string' ? `default: ${defaultValue}` : ''];
  const added = facts.filter((fact) => fact !== '').join(', ');
  return `- \`${flags}\`: ${cell(description)}${added === '' ? '' : ` (${added})`}`;
};

const asks = (command: Command): boolean => SHARED.every((flag) => command.options.some(({ long }) => long === flag));

/** Commands that can be run. A group such as `deliveries`, which lists by itself, has options of its own. */
const leavesOf = (command: Command): readonly Command[] =>
  command.commands.length === 0
    ? [command]
    : [...(command.options.length > 0 ? [command] : []), ...command.commands.flatMap(leavesOf)];

const nameOf = (command: Command): string =>
  command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** The options that a section lists: neither hidden ones nor those of all commands that ask a running Carillon. */
const ownOptions = (command: Command): readonly Option[] =>
  command.options.filter(({ long, hidden }) => !hidden && !(asks(command) && SHARED.includes(long ?? '')));

function section(command: Command, isCommon: (line: string) => boolean): string {
  const heading = command.parent?.parent || command.commands.length > 0 ? `### ${nameOf(command)}\n\n` : '';
  const options = ownOptions(command);
  const common = options.filter((option) => isCommon(row(option))).map(({ long }) => `\`${long}\``);
  const usage = `carillon ${nameOf(command)} ${command.usage()}`.trim();
  const usages = command.registeredArguments.length === 0 ? '' : `\n\`${usage}\`\n`;
  const lines = options.filter((option) => !isCommon(row(option))).map(row);
  if (common.length > 0) lines.push(`- ${common.join(' ')}`);
  const list = lines.length === 0 ? '' : `\n${lines.join('\n')}\n`;
  return `${heading}${sentence(cell(command.description()))}\n${usages}${list}`;
}

/** Returns the rows that occur often enough, one per name of an option: the most frequent one. */
function commonRows(options: readonly Option[]): readonly string[] {
  const names = new Set(options.map(({ long }) => long ?? '').filter((name) => !SHARED.includes(name)));
  return [...names].flatMap((name) => {
    const counts = new Map<string, number>();
    for (const line of options.filter(({ long }) => long === name).map(row)) {
      counts.set(line, (counts.get(line) ?? 0) + 1);
    }
    const [most] = [...counts].toSorted(([, a], [, b]) => b - a);
    return most && most[1] >= MIN_COMMANDS ? [most[0]] : [];
  });
}

/** Returns the page docs/commands.md: one section per command, grouped by its first word. */
export function commandsReference(program: Command): string {
  const commands = program.commands.flatMap(leavesOf);
  const shared = commands.find(asks)?.options.filter(({ long }) => SHARED.includes(long ?? '')) ?? [];
  const common = commonRows(commands.flatMap(ownOptions));
  const isCommon = (line: string): boolean => common.includes(line);
  const groups = program.commands.map(
    (group) => `## ${group.name()}\n\n${leavesOf(group).map((command) => section(command, isCommon)).join('\n')}`,
  );
  const several = `These options mean the same in each command that names them:\n\n${common.join('\n')}`;
  return `${INTRODUCTION}${shared.map(row).join('\n')}\n\n${several}\n\n${groups.join('\n')}`;
}
