import {
  factorProofInput,
  meBody,
  newPasswordInput,
  profileInput,
  recoveryCodesBody,
  goneBody,
  sessionBody,
  totpBody,
  totpCodeInput,
  type MeBody,
} from '@carillon/contracts';
import { listResources, signInOf } from '@carillon/domain/configuration';
import type { Person } from '@carillon/domain/people';
import { CarillonError, formatInstant } from '@carillon/kernel';
import { sourceOf } from '@carillon/runtime';
import type { FastifyRequest } from 'fastify';
import type { Access } from '../../access/access.ts';
import { matchingStep, newRecoveryCodes, newTotpSecret, recoveryDigest, totpUri } from '../../access/people/codes.ts';
import { requestAddress } from '../../access/people/addresses.ts';
import { createDirectory, type Directory } from '../../access/people/directory.ts';
import { notifyPerson } from '../../access/people/notices.ts';
import { refuseWeak } from '../../access/people/passwords.ts';
import { hasSecondFactor } from '../../access/people/second-factor.ts';
import { PERMISSIONS, ROLES_WITH } from '../../access/permission.ts';
import { createAsker } from '../../access/people/asker.ts';
import { principalOf } from '../../access/principal.ts';
import { audited } from '../../audit/facts.ts';
import type { ControlPorts } from '../../ports.ts';
import { createRate, type Rate } from '../../rate.ts';
import type { ApiServer } from '../app.ts';
import { showSession } from './sessions.ts';

type MePorts = Pick<ControlPorts, 'people' | 'ids' | 'clock' | 'factorSealer' | 'configuration'>;

type MeContext = MePorts &
  ReturnType<typeof createAsker> & {
    readonly access: Access;
    readonly directory: Directory;
    readonly newAddresses: Rate;
  };

/** Routes about the caller: profile, password, second factor. */
export function meRoutes(app: ApiServer, access: Access, ports: MePorts): void {
  const context: MeContext = {
    ...ports,
    access,
    ...createAsker(access, ports.people),
    directory: createDirectory(ports),
    newAddresses: createRate({ what: 'new addresses', most: 5, span: 3_600_000 }),
  };
  readMeRoute(app, context);
  changeMeRoute(app, context);
  leaveRoute(app, context);
  setPasswordRoute(app, context);
  beginTotpRoute(app, context);
  confirmTotpRoute(app, context);
  removeTotpRoute(app, context);
  renewRecoveryCodesRoute(app, context);
}

function readMeRoute(app: ApiServer, context: MeContext): void {
  app.get(
    '/v1/me',
    {
      config: { permission: 'self' },
      schema: {
        operationId: 'readMe',
        tags: ['Me'],
        summary: 'Who asks, and what they may do where',
        response: { 200: meBody },
      },
    },
    (request) => showMe(request, context),
  );
}

function changeMeRoute(app: ApiServer, context: MeContext): void {
  const { access, directory, asker, prove, newAddresses } = context;
  app.put(
    '/v1/me',
    {
      config: { permission: 'self', audit: 'person.change', problems: ['forbidden', 'conflict', 'rate_limited'] },
      schema: {
        operationId: 'changeMe',
        tags: ['Me'],
        summary:
          'Changes your name and address. A new address counts once the link mailed to it is opened, or an owner of the deployment confirms it; an owner’s own counts at once',
        body: profileInput,
        response: { 200: meBody },
      },
    },
    async (request) => {
      const { name, email, current_password } = request.body;
      const who = await asker(request);
      if (email !== undefined && email !== who.person.email) await prove(request, who, current_password);
      audited(request, {
        before: profileDigest(who.person, context),
        after: profileDigest({ name: name ?? who.person.name, email: email ?? who.person.email }, context),
      });
      if (email !== undefined && email !== who.person.email) {
        const isOwner = principalOf(request).may('people', null);
        await requestAddress({ who, email, isOwner, request }, access, { ...context, directory, rate: newAddresses });
      }
      if (name !== undefined) await directory.changePerson(who.id, (person) => ({ ...person, name }));
      return showMe(request, context);
    },
  );
}

function leaveRoute(app: ApiServer, context: MeContext): void {
  const { directory, asker, prove } = context;
  app.delete(
    '/v1/me',
    {
      config: { permission: 'self', audit: 'person.remove', problems: ['forbidden', 'wrong_state', 'rate_limited'] },
      schema: {
        operationId: 'leave',
        tags: ['Me'],
        summary: 'Removes you from the deployment; the last owner cannot leave',
        body: factorProofInput.nullish(),
        response: { 200: goneBody },
      },
    },
    async (request) => {
      const who = await asker(request);
      await prove(request, who, request.body?.current_password);
      await directory.removePerson(who.id);
      return { removed: true };
    },
  );
}

function setPasswordRoute(app: ApiServer, context: MeContext): void {
  const { people, clock, access, directory, asker, prove } = context;
  app.put(
    '/v1/me/password',
    {
      config: {
        permission: 'self',
        audit: 'person.credentials',
        problems: ['forbidden', 'wrong_state', 'rate_limited'],
      },
      schema: {
        operationId: 'setPassword',
        tags: ['Me'],
        summary: 'Sets your password, and ends all your other sessions',
        body: newPasswordInput,
        response: { 200: sessionBody },
      },
    },
    async (request, reply) => {
      const { password, current_password } = request.body;
      const who = await asker(request);
      if (!signInOf(context.configuration.current()).passwords) {
        throw new CarillonError('forbidden', 'passwords are switched off here: sign in with the identity provider');
      }
      if (who.person.email === null) {
        throw new CarillonError('wrong_state', 'add your address first: you sign in with it');
      }
      await prove(request, who, current_password);
      refuseWeak(password, who.person);
      const hash = await access.passwords.hash(password, sourceOf(request.ip));
      // The epoch ends what was opened with the old password, also what is opened at this moment.
      const { epoch } = await directory.changePerson(who.id, (person) => {
        if (person.password?.hash !== who.person.password?.hash) {
          throw new CarillonError('conflict', 'the password was changed elsewhere at the same time');
        }
        return { ...person, password: { hash, setAt: clock.now() }, epoch: person.epoch + 1 };
      });
      // A new password makes no session last longer: of a provider's it decides again in time.
      const { body, endsAt } = who.session;
      const lasts = endsAt === null ? undefined : endsAt - clock.now();
      const { cookie, sessionId } = await access.openFor(who.id, body.way, request, { epoch, lasts });
      await people.removeOf('session', who.id, sessionId);
      // Somebody who knew the old password may have asked for the new address.
      await access.links.drop(who.id, 'address');
      notifyPerson(access.mail, who.person, 'password_set', request);
      return reply.header('set-cookie', cookie).send({ ok: true });
    },
  );
}

function beginTotpRoute(app: ApiServer, context: MeContext): void {
  const { factorSealer, directory, asker, prove } = context;
  app.post(
    '/v1/me/totp',
    {
      config: {
        permission: 'self',
        audit: 'person.credentials',
        problems: ['forbidden', 'wrong_state', 'rate_limited'],
      },
      schema: {
        operationId: 'beginTotp',
        tags: ['Me'],
        summary: 'Begins to set up an authenticator; it counts once a first code confirms it',
        body: factorProofInput,
        response: { 201: totpBody },
      },
    },
    async (request, reply) => {
      const who = await asker(request);
      await prove(request, who, request.body.current_password);
      const secret = newTotpSecret();
      const sealed = factorSealer.seal([who.id], secret);
      await directory.changePerson(who.id, (person) => {
        if (person.totp?.confirmedAt) {
          throw new CarillonError('wrong_state', 'there is an authenticator already: remove it first');
        }
        return { ...person, totp: { sealed, confirmedAt: null, lastStep: 0 } };
      });
      return reply.code(201).send({ secret, uri: totpUri(secret, who.person.email ?? who.person.name) });
    },
  );
}

function confirmTotpRoute(app: ApiServer, context: MeContext): void {
  const { clock, factorSealer, access, directory, asker } = context;
  app.post(
    '/v1/me/totp/confirm',
    {
      config: { permission: 'self', audit: 'person.credentials', problems: ['forbidden', 'wrong_state'] },
      schema: {
        operationId: 'confirmTotp',
        tags: ['Me'],
        summary: 'Confirms the authenticator with a first code; answers ten recovery codes',
        body: totpCodeInput,
        response: { 200: recoveryCodesBody },
      },
    },
    async (request) => {
      const { id, person: asking } = await asker(request);
      const codes = newRecoveryCodes();
      await directory.changePerson(id, (person) => {
        const { totp } = person;
        if (totp === null || totp.confirmedAt !== null) {
          throw new CarillonError('wrong_state', 'there is no authenticator to confirm');
        }
        const now = clock.now();
        const secret = factorSealer.open([id], totp.sealed);
        const step = secret === null ? null : matchingStep(secret, request.body.code, now, totp.lastStep);
        if (step === null) {
          const fix = 'code: this is not the current code; check the clock of your phone';
          throw new CarillonError('invalid_request', fix, { pointer: '/code' });
        }
        const confirmed = { ...totp, confirmedAt: now, lastStep: step };
        return { ...person, totp: confirmed, recoveryCodes: codes.map(recoveryDigest) };
      });
      notifyPerson(access.mail, asking, 'factor_added', request);
      return { recovery_codes: [...codes] };
    },
  );
}

function removeTotpRoute(app: ApiServer, context: MeContext): void {
  const { access, directory, asker, prove } = context;
  app.post(
    '/v1/me/totp/remove',
    {
      config: { permission: 'self', audit: 'person.credentials', problems: ['forbidden', 'rate_limited'] },
      schema: {
        operationId: 'removeTotp',
        tags: ['Me'],
        summary: 'Removes your authenticator and its recovery codes',
        body: factorProofInput,
        response: { 200: goneBody },
      },
    },
    async (request) => {
      const who = await asker(request);
      await prove(request, who, request.body.current_password);
      await directory.changePerson(who.id, (person) => ({ ...person, totp: null, recoveryCodes: [] }));
      if (hasSecondFactor(who.person)) notifyPerson(access.mail, who.person, 'factor_removed', request);
      return { removed: who.person.totp !== null };
    },
  );
}

function renewRecoveryCodesRoute(app: ApiServer, context: MeContext): void {
  const { access, directory, asker, prove } = context;
  app.post(
    '/v1/me/recovery-codes',
    {
      config: {
        permission: 'self',
        audit: 'person.credentials',
        problems: ['forbidden', 'wrong_state', 'rate_limited'],
      },
      schema: {
        operationId: 'renewRecoveryCodes',
        tags: ['Me'],
        summary: 'Makes ten new recovery codes; those of before end',
        body: factorProofInput,
        response: { 200: recoveryCodesBody },
      },
    },
    async (request) => {
      const who = await asker(request);
      await prove(request, who, request.body.current_password);
      const { id } = who;
      const codes = newRecoveryCodes();
      await directory.changePerson(id, (person) => {
        if (!person.totp?.confirmedAt) throw new CarillonError('wrong_state', 'set up an authenticator first');
        return { ...person, recoveryCodes: codes.map(recoveryDigest) };
      });
      notifyPerson(access.mail, who.person, 'recovery_codes_renewed', request);
      return { recovery_codes: [...codes] };
    },
  );
}

/** Keyed, because otherwise readers of the audit could test guessed names and addresses. */
const profileDigest = ({ name, email }: Pick<Person, 'name' | 'email'>, context: MeContext): string =>
  context.ids.keyed('audit profile', JSON.stringify([name, email]));

async function showMe(request: FastifyRequest, context: MeContext): Promise<MeBody> {
  const { people, access, directory } = context;
  const principal = principalOf(request);
  const { session, actor } = principal;
  const id = session?.body.personId;
  const found = id === undefined ? null : await people.find('person', id);
  const pending = found && (await access.links.pending(found.id, 'address'));
  const { owners } = await directory.roster();
  const allowed = (workspace: string | null): string[] => PERMISSIONS.filter((one) => principal.may(one, workspace));
  const workspaces = listResources(context.configuration.current(), 'workspace')
    .map(({ ref: { workspace } }) => ({ workspace, permissions: allowed(workspace) }))
    .filter(({ permissions }) => permissions.length > 0);
  return {
    actor,
    person: found && {
      id: found.id,
      name: found.body.name,
      email: found.body.email,
      unconfirmed_email: pending && {
        address: pending.body.email,
        ends_at: formatInstant(pending.endsAt ?? pending.body.createdAt),
      },
      has_password: found.body.password !== null,
      totp: typeof found.body.totp?.confirmedAt === 'number',
      recovery_codes_left: found.body.recoveryCodes.length,
    },
    owner: principal.kind === 'owner_token' || (id !== undefined && owners.includes(id)),
    permissions: allowed(null),
    workspaces,
    roles_with: PERMISSIONS.map((permission) => ({ permission, roles: [...ROLES_WITH[permission]] })),
    session: session ? showSession(session, session.id) : null,
  };
}
