/** A heading of the changelog and the commits below it. Text of commits is shown as text, whatever it holds. */
export function changelogOf(version: string, commits: readonly string[]): string {
  const lines = commits.map((subject) => `- ${subject.replaceAll(/[\\`*_<>[\]]/g, String.raw`\$&`)}`);
  const body = lines.length === 0 ? ['Nothing has changed.'] : lines;
  return `# Carillon ${version}\n\n${body.join('\n')}\n`;
}
