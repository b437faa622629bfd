import type { TopicName } from '@carillon/ports';
import type { KafkaConnection } from '../connection/options.ts';
import { DEFAULT_GROUP_PREFIX, groupIdOf } from '../consuming/group-id.ts';
import { withAdmin } from './ensure-topics.ts';

/** Returns the number of members of each group, without groups that have none. A member that was killed counts until its session times out. */
export function countMembers(
  connection: KafkaConnection,
  readers: readonly (readonly [group: string, topic: TopicName])[],
): Promise<ReadonlyMap<string, number>> {
  return withAdmin(connection, async (admin) => {
    const ids = readers.map(([group, topic]) => groupIdOf(DEFAULT_GROUP_PREFIX, group, topic));
    const { groups } = await admin.describeGroups(ids);
    return new Map(
      groups.filter(({ members }) => members.length > 0).map(({ groupId, members }) => [groupId, members.length]),
    );
  });
}
