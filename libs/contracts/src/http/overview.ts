import { z } from 'zod';
import { pageOf } from './fields.ts';

const upTo = (what: string) => z.int().describe(`${what}; counted up to 500`);

/** How a workspace is, in a row of the overview of all workspaces. */
export const workspaceHealthBody = z
  .object({
    workspace: z.string(),
    in_doubt: upTo('Deliveries in doubt'),
    dead_letters: upTo('Open dead letters'),
    refused: z.int().describe('Calls of the last hour that a provider refused, among the newest 500 messages'),
    waiting: upTo('Deliveries that wait to be sent'),
    sources_waiting: z.int().describe('Databases that cannot be read now, and those that leave'),
    sources_stopped: z.int().describe('Databases that are not read until a person resets them'),
    waiting_for_partners: z.int().describe('Events that wait for a partner'),
  })
  .meta({ id: 'WorkspaceHealth' });
export const workspaceHealthPage = pageOf(workspaceHealthBody).meta({ id: 'WorkspaceHealthPage' });
export type WorkspaceHealthBody = z.infer<typeof workspaceHealthBody>;
