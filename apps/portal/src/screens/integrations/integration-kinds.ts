import type { Bodies } from '../../api/draft-calls.ts';
import { INTEGRATION_FORMS } from '../setup/kind-forms.generated.ts';
import type { NewKind } from '../setup/new-setup.tsx';
import type { Part } from '../setup/parts.ts';

type Body = Bodies['integrations'];

export type IntegrationKind = {
  readonly kind: Body['kind'];
  /** `partner`: called to look people up. `cohort_webhook`: sends its cohorts. `cohort_api`: asked for its cohorts. `database`, `topics`: read. */
  readonly role: 'partner' | 'cohort_webhook' | 'cohort_api' | 'database' | 'topics';
  /** `partner`: names recipients. `cohorts`: has cohorts. `source`: streams read it. */
  readonly group: 'partner' | 'cohorts' | 'source';
  readonly title: string;
  readonly summary: string;
  /** Settings that the user enters at the other system. Null if there are none. */
  readonly setup: string | null;
  /** What the check does. */
  readonly checkNote: string;
  readonly parts: readonly Part[];
};

const INTEGRATION_KINDS: readonly IntegrationKind[] = INTEGRATION_FORMS;

/** The kinds to choose from for a new integration. The draft reports what the body still lacks. */
export const NEW_INTEGRATIONS: readonly NewKind<'integrations'>[] = INTEGRATION_KINDS.map(
  ({ kind, title, summary }) => ({ id: kind, name: title, what: summary, body: { kind } as Body }),
);

/** Returns the kind of an integration's body, or null if the portal does not know it. */
export const integrationKindOf = (body: unknown): IntegrationKind | null =>
  INTEGRATION_KINDS.find(({ kind }) => kind === (body as { kind?: unknown } | null)?.kind) ?? null;

/** Returns true if a check of the integration calls nobody, so that a list may run it without a click. */
export const isQuiet = (body: unknown): boolean => integrationKindOf(body)?.role === 'cohort_webhook';

/** Returns the address that a platform sends to, made from that of events. */
export const webhookOf = (eventsUrl: string, workspace: string, name: string): string =>
  `${eventsUrl.replace(/\/events$/, '')}/cohorts/${workspace}/${name}`;
