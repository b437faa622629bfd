import type { LIVE_TOPICS } from '@carillon/contracts';
import type { z } from 'zod';
import type { Permission } from '../access/permission.ts';

export type LiveTopic = (typeof LIVE_TOPICS)[number];

/** A row of a list, as shown to a caller who may see all of it. */
export type LiveItem = {
  /** Key of the row, which stays equal when its content changes. */
  readonly key: string;
  readonly workspace: string | null;
  readonly body: object;
};

export type Look<Position> = {
  /** New and changed rows. Unchanged rows may be among them. */
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
  /**
   * Returns the rows since a position. `isKnown`: the row was sent before. `known`: keys of rows that were sent before.
   */
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
