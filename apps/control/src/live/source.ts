import type { LIVE_TOPICS } from '@carillon/contracts';
import type { z } from 'zod';
import type { Permission } from '../access/permission.ts';

export type LiveTopic = (typeof LIVE_TOPICS)[number];

/** A row of a list, as the list shows it to whoever sees all of it. */
export type LiveItem = {
  /** The same row has the same key, whatever it says meanwhile. */
  readonly key: string;
  readonly workspace: string | null;
  readonly body: object;
};

export type Look<Position> = {
  /** Rows that are new or say something else; rows that say what they said may be among them. */
  readonly items: readonly LiveItem[];
  /** False: there may be more than these, so that the list has to be read again. */
  readonly isWhole: boolean;
  /** Where the next look goes on. */
  readonly position: Position;
};

/** Source of changes of one list in one workspace. */
export type LiveSource<Position> = {
  /** Where the list ends now. */
  begin(): Promise<Position>;
  /** `isKnown`: rows that were told before; `known`: how many these are. */
  since(position: Position, isKnown: (key: string) => boolean, known: readonly string[]): Promise<Look<Position>>;
  /** Parses a position from a client. Null if it is invalid, for example from another version. */
  read(position: unknown): Position | null;
};

/** A list that can be followed. */
export type LiveList = {
  /** Who may see its rows. */
  readonly permission: Permission;
  readonly schema: z.ZodType<object>;
  /** Opens the list of one workspace; null: of all. */
  readonly open: (workspace: string | null) => LiveSource<unknown>;
};
