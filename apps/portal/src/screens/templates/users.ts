/** A notification that sends a template. */
export type TemplateUser = {
  readonly notification: string;
  readonly channels: readonly string[];
  /** Its first rule, as the API names it; null: it has none. */
  readonly rule: string | null;
  /** The shared stream of that rule. Null of a cohort's rule, and of a rule with a stream of its own. */
  readonly stream: string | null;
  /** Whether a cohort starts that rule, so that nobody sends events to it. */
  readonly isOfCohort: boolean;
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
        isOfCohort: first !== undefined && group(first[1])['cohort'] !== undefined,
      },
    ];
  });
}

/** As what notifications send a template on a channel: of one event each, as digests alone, or not at all. */
export type SentAs = 'message' | 'digest' | 'nothing';

export function sentAs(
  notifications: readonly { readonly name: string; readonly body: unknown }[],
  template: string,
  channel: string,
): SentAs {
  const users = usersOf(notifications, template);
  if (users.some(({ channels }) => channels.includes(channel))) return 'message';
  return users.some(({ channels }) => channels.length === 0) ? 'digest' : 'nothing';
}

/** What rules give beside the fields of their events to notifications that send a template. */
export type Given = {
  readonly variables: readonly { readonly name: string; readonly by: string }[];
  /** Partners that rules ask. */
  readonly partners: readonly string[];
};

export function givenTo(
  notifications: readonly { readonly name: string; readonly body: unknown }[],
  template: string,
): Given {
  const users = new Set(usersOf(notifications, template).map(({ notification }) => notification));
  const rules = notifications
    .filter(({ name }) => users.has(name))
    .flatMap(({ name, body }) =>
      Object.entries(group(group(body)['rules'])).map(([rule, said]) => {
        const recipients = group(group(said)['recipients']);
        return { by: `${name}.${rule}`, recipients };
      }),
    );
  const variables = rules.flatMap(({ by, recipients }) =>
    Object.keys(group(recipients['variables'])).map((name) => ({ name, by })),
  );
  const partners = rules.flatMap(({ recipients }) =>
    typeof recipients['integration'] === 'string' ? [recipients['integration']] : [],
  );
  // Rules may give the same name: one of them stands for all.
  const named = new Map(variables.toReversed().map((one) => [one.name, one]));
  return { variables: [...named.values()].toReversed(), partners: [...new Set(partners)] };
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
