import type { KeptAnswers, KeptRequest } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { insertOnce } from '../compare-and-set.ts';
import type { KeptAnswerDocument } from '../documents.ts';
import { ComeAgain } from '../failures.ts';

const read = ({ _id, answer, ...rest }: KeptAnswerDocument): KeptRequest => ({ id: _id, ...rest, answer });
const documentOf = ({ id, ...rest }: KeptRequest): KeptAnswerDocument => ({ _id: id, ...rest });

export const createKeptAnswers = ({ keptAnswers }: Collections, attempt: Attempt): KeptAnswers => ({
  begin: (request, now) =>
    attempt(async () => {
      if (await insertOnce(keptAnswers, documentOf(request))) return request;
      // What stands there may be ours, of an earlier try whose answer was lost: the token tells.
      const found = await keptAnswers.findOne({ _id: request.id });
      if (!found) throw new ComeAgain('a write is not yet held by a majority');
      if (found.endsAt > now) return read(found);
      const { _id, ...fields } = documentOf(request);
      const { matchedCount } = await keptAnswers.updateOne({ _id, token: found.token }, { $set: fields });
      if (matchedCount === 1) return request;
      throw new ComeAgain('somebody else was faster');
    }),
  async find(id) {
    const found = await attempt(() => keptAnswers.findOne({ _id: id }));
    return found && read(found);
  },
  async finish(id, token, answer) {
    await attempt(() => keptAnswers.updateOne({ _id: id, token }, { $set: { answer } }));
  },
  async forget(id, token) {
    await attempt(() => keptAnswers.deleteOne({ _id: id, token }));
  },
  async removeEnded(before, limit) {
    const wanted = { endsAt: { $lt: before } };
    const options = { projection: { _id: 1 }, sort: { endsAt: 1 }, limit } as const;
    const ended = await attempt(() => keptAnswers.find(wanted, options).toArray());
    if (ended.length === 0) return 0;
    // One that was begun anew meanwhile ends later.
    const some = { _id: { $in: ended.map(({ _id }) => _id) }, ...wanted };
    return (await attempt(() => keptAnswers.deleteMany(some))).deletedCount;
  },
});
