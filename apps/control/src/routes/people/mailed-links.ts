import { confirmAddressInput, mailedLinkInput, openedLinkBody } from '@carillon/contracts';
import { CarillonError, isCarillonError } from '@carillon/kernel';
import { z } from 'zod';
import type { Access } from '../../access/access.ts';
import { refuseForeign } from '../../access/origin.ts';
import { changeAddress } from '../../access/people/addresses.ts';
import { createDirectory } from '../../access/people/directory.ts';
import { principalOf, refuseToken } from '../../access/principal.ts';
import { audited } from '../../audit/facts.ts';
import { beginAudit } from '../../audit/hook.ts';
import type { ControlPorts } from '../../ports.ts';
import { createRate } from '../../rate.ts';
import { notFound, type ApiServer } from '../app.ts';

/** Confirms an address by the link that was mailed to it, or by an owner. */
export function mailedLinkRoutes(
  app: ApiServer,
  access: Access,
  ports: Pick<ControlPorts, 'people' | 'ids' | 'clock'>,
): void {
  const directory = createDirectory(ports);
  // Nobody guesses 256 bits: this only keeps the audit short.
  const wrongWords = createRate({ what: 'wrong words of mailed links', most: 10, span: 60_000 });

  app.post(
    '/v1/mailed-links/open',
    {
      config: {
        permission: 'anybody',
        audit: 'person.credentials',
        problems: ['not_found', 'conflict', 'rate_limited', 'cross_site'],
      },
      schema: {
        operationId: 'openMailedLink',
        tags: ['People'],
        summary: 'Uses a mailed link: confirms a new address or unlocks an account',
        body: mailedLinkInput,
        response: { 200: openedLinkBody },
      },
    },
    async (request) => {
      refuseForeign(request);
      const link = await access.links.find(request.body.word).catch((error: unknown) => {
        if (isCarillonError(error) && error.code === 'not_found') wrongWords.take(request.ip, ports.clock.now());
        throw error;
      });
      const { personId, purpose, email } = link.body;
      audited(request, { actor: { kind: 'person', id: personId }, target: personId });
      await beginAudit(request);
      await access.links.use(link);
      if (purpose === 'unlock') await access.factors.forget(personId);
      else await changeAddress(personId, email, access, directory, request);
      return { purpose, email };
    },
  );

  app.post(
    '/v1/people/:id/confirm-address',
    {
      config: { permission: 'people', audit: 'person.change', problems: ['not_found', 'conflict', 'forbidden'] },
      schema: {
        operationId: 'confirmAddress',
        tags: ['People'],
        summary: 'Confirms the new address of a person without the mailed link',
        params: z.object({ id: z.string().max(100) }),
        body: confirmAddressInput,
        response: { 200: openedLinkBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      refuseToken(principalOf(request), 'only a person may confirm whose address it is');
      audited(request, { target: id });
      const pending = await access.links.pending(id, 'address');
      if (!pending) throw notFound('unconfirmed address of this person');
      if (pending.body.email !== request.body.email) {
        throw new CarillonError('conflict', 'email: the person changed the address meanwhile; read it again', {
          pointer: '/email',
        });
      }
      await changeAddress(id, pending.body.email, access, directory, request);
      return { purpose: 'address' as const, email: pending.body.email };
    },
  );
}
