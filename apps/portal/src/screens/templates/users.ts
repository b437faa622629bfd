/** A notification that sends a template. */
export type TemplateUser = {
  readonly notification: string;
  readonly channels: readonly string[];
  /** Its first rule, as the API names it; null: it has none. */
  readonly rule: string | null;
  /** The stream of that rule; null: a cohort's. */
  readonly stream: string | null;
};

type Loose = Readonly<Record<string, unknown>>;
const group = (value: unknown): Loose => (typeof value === 'object' && value !== null ? (value as Loose) : {});

/** Which notifications send a template, by a channel of theirs or as their digest. */
export function usersOf(
  notifications: readonly { readonly name: string; readonly body: unknown }[],
  template: string,
): readonly TemplateUser[] {
  return notifications.flatMap(({ name, body }) => {
    const channels = Object.entries(group(group(body)['channels']))
      .filter(([, said]) => group(said)['template'] === template)
      .map(([channel]) => channel);
    const digest = group(group(group(body)['cadence'])['digest'])['template'] === template;
    if (channels.length === 0 && !digest) return [];
    const [first] = Object.entries(group(group(body)['rules']));
    const stream = first ? group(first[1])['stream'] : undefined;
    return [
      {
        notification: name,
        channels,
        rule: first ? `${name}.${first[0]}` : null,
        stream: typeof stream === 'string' ? stream : null,
      },
    ];
  });
}

/** Templates that put in a layout or a partial. */
export function templatesWith(
  templates: readonly { readonly name: string; readonly body: unknown }[],
  kind: 'layouts' | 'partials',
  name: string,
): readonly string[] {
  const isIn = (body: unknown): boolean => {
    const text = JSON.stringify(body);
    if (kind === 'layouts') return text.includes(`"layout":${JSON.stringify(name)}`);
    return new RegExp(`\\{\\{#?>\\s*${name.replaceAll('-', '\\-')}[\\s}]`).test(text);
  };
  return templates.filter(({ body }) => isIn(body)).map((one) => one.name);
}
