import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf, Refusal, type Schemas } from '../../api/client.ts';
import { readPublished } from '../../api/draft-calls.ts';

export type Previewed = Schemas['TemplatePreview']['messages'][number];

const LISTS = {
  templates: '/v1/workspaces/{workspace}/templates',
  layouts: '/v1/workspaces/{workspace}/layouts',
  partials: '/v1/workspaces/{workspace}/partials',
} as const;

export const templatesQuery = (workspace: string) =>
  queryOptions({
    queryKey: [LISTS.templates, workspace],
    queryFn: ({ signal }) =>
      bodyOf(api.GET(LISTS.templates, { params: { path: { workspace }, query: { limit: 500 } }, signal })),
  });
export const layoutsQuery = (workspace: string) =>
  queryOptions({
    queryKey: [LISTS.layouts, workspace],
    queryFn: ({ signal }) =>
      bodyOf(api.GET(LISTS.layouts, { params: { path: { workspace }, query: { limit: 500 } }, signal })),
  });
export const partialsQuery = (workspace: string) =>
  queryOptions({
    queryKey: [LISTS.partials, workspace],
    queryFn: ({ signal }) =>
      bodyOf(api.GET(LISTS.partials, { params: { path: { workspace }, query: { limit: 500 } }, signal })),
  });

/** The newest events of a workspace, to try a template with. */
export const newestEventsQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/events', workspace, 'newest'],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/events', {
          params: { path: { workspace }, query: { limit: 20, labels: 'true' } },
          signal,
        }),
      ),
  });

/** An event as JSON text, for whoever may see what it holds. */
export async function eventText(workspace: string, id: string): Promise<string> {
  const { lines } = await bodyOf(
    api.GET('/v1/workspaces/{workspace}/events/{id}/content', { params: { path: { workspace, id } } }),
  );
  return lines.map(({ text }) => text).join('\n');
}

/** The newest real event that a notification sent a message for, else the newest of the stream, with its text. Null: there is none. */
export const realEventQuery = (workspace: string, notification: string, stream: string | null) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/deliveries', workspace, 'newest event', notification, stream],
    queryFn: async ({ signal }) => {
      const path = { workspace };
      const [sent, events] = await Promise.all([
        bodyOf(
          api.GET('/v1/workspaces/{workspace}/deliveries', {
            params: { path, query: { notification, limit: 5 } },
            signal,
          }),
        ),
        stream === null
          ? null
          : bodyOf(
              api.GET('/v1/workspaces/{workspace}/events', { params: { path, query: { stream, limit: 1 } }, signal }),
            ),
      ]);
      const id = sent.items.find(({ event_id: of }) => of !== null)?.event_id ?? events?.items[0]?.id;
      if (id === undefined) return null;
      try {
        const text = await eventText(workspace, id);
        return text === '' ? null : { id, text };
      } catch (error) {
        // The event is no longer on the log, so the preview uses the sample of the rule.
        if (error instanceof Refusal) return null;
        throw error;
      }
    },
    staleTime: Infinity,
    retry: false,
  });

export const fieldsQuery = (workspace: string, stream: string | null) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/streams/{name}/fields', workspace, stream],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/streams/{name}/fields', {
          params: { path: { workspace, name: stream ?? '' } },
          signal,
        }),
      ),
    enabled: stream !== null,
  });

/** Variables that a partner was seen to answer. */
export const answerFieldsQuery = (workspace: string, integration: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/integrations/{name}/fields', workspace, integration],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/integrations/{name}/fields', {
          params: { path: { workspace, name: integration } },
          signal,
        }),
      ),
    staleTime: 60_000,
    retry: false,
  });

/** The workspace's own settings, as they count. */
export const workspaceQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}', workspace],
    queryFn: ({ signal }) => readPublished({ kind: 'workspace', workspace, name: '' }, signal),
  });

export type MissingVariables = Schemas['MissingVariables'];

/** What messages of a template would lack, over the newest 1,000 events; `saving` is the draft that counts, null: what is published. */
export const missingQuery = (
  workspace: string,
  name: string,
  channel: PreviewAsked['channel'],
  saving: string | null,
) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/templates/{name}/missing', workspace, name, channel, saving],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/templates/{name}/missing', {
          params: { path: { workspace, name }, query: { channel, drafts: saving === null ? 'false' : 'true' } },
          signal,
        }),
      ),
    staleTime: 60_000,
    retry: false,
    // What was counted of the text before stands until the new one is counted.
    placeholderData: (before) => before,
  });

export type PreviewAsked = {
  readonly workspace: string;
  readonly name: string;
  readonly channel: 'email' | 'sms' | 'push';
  readonly locale: string;
  readonly event: string;
  readonly drafts: boolean;
  /** Another word for another text: it is asked again when that changes. */
  readonly of: string;
};

/** What the template makes of an event, by the code that sends. */
export const previewQuery = (asked: PreviewAsked, asks: boolean) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/templates/{name}/preview', asked],
    queryFn: async ({ signal }) => {
      const { workspace, name, channel, locale, event, drafts } = asked;
      const { messages } = await bodyOf(
        api.POST('/v1/workspaces/{workspace}/templates/{name}/preview', {
          params: { path: { workspace, name } },
          body: { event, channel, drafts, ...(locale !== '' && { locale }) },
          signal,
        }),
      );
      return { asked, message: messages[0] };
    },
    enabled: asks,
    staleTime: Infinity,
    retry: false,
  });

/** So long an address of a page may be, in characters. */
const LONGEST = 7_000;

/** The page of a mail for a sandboxed frame; null: the event does not fit into an address. */
export function previewPage(
  { workspace, name, locale, event, drafts, of }: PreviewAsked,
  pictures: boolean,
): string | null {
  const query = new URLSearchParams({ event, of });
  if (locale !== '') query.set('locale', locale);
  if (drafts) query.set('drafts', 'true');
  if (!pictures) query.set('pictures', 'off');
  const page = `/previews/${encodeURIComponent(workspace)}/${encodeURIComponent(name)}/html?${query.toString()}`;
  return page.length > LONGEST ? null : page;
}

/** A short word of a text: another text has, in all likelihood, another one. */
export function wordOf(text: string): string {
  let sum = 5381;
  for (let at = 0; at < text.length; at += 1) sum = (sum * 33 + text.charCodeAt(at)) % 4_294_967_296;
  return `${text.length}-${sum.toString(36)}`;
}
