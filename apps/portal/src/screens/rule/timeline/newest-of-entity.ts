/** Events of an entity that the timeline takes. */
const MAX_TAKEN = 20;
/** Pages of the stream that are looked at. A page has 50 events. */
const MAX_PAGES = 10;

type StreamEvent = { readonly id: string; readonly at: string };
type EventPage<Event> = { readonly items: readonly Event[]; readonly next: string | null };

export type EntitySource<Event extends StreamEvent> = {
  /** Reads a page of the stream, newest first. Null: the first page. */
  readonly readPage: (cursor: string | null) => Promise<EventPage<Event>>;
  /** Resolves to the entity of each event, by the id of the event. `events`: oldest first. */
  readonly entitiesOf: (events: readonly Event[]) => Promise<ReadonlyMap<string, string | null>>;
};

/** Resolves to the newest 20 events of the entity of an event, oldest first. It looks at the newest 500 events of the stream. */
export async function newestOfEntity<Event extends StreamEvent>(
  id: string,
  { readPage, entitiesOf }: EntitySource<Event>,
): Promise<readonly Event[]> {
  let seen: readonly Event[] = [];
  const entities = new Map<string, string | null>();
  let own: readonly Event[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { items, next }: EventPage<Event> = await readPage(cursor);
    const sorted = items.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
    for (const [event, entity] of sorted.length === 0 ? [] : await entitiesOf(sorted)) entities.set(event, entity);
    seen = [...sorted, ...seen];
    const entity = entities.get(id);
    if (entity !== undefined) own = seen.filter((event) => entities.get(event.id) === entity);
    cursor = next;
    if (own.length >= MAX_TAKEN || cursor === null) break;
  }
  return own.slice(-MAX_TAKEN);
}
