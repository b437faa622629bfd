// What came in and what went out, opened from a story; asked for when somebody opens it.
import { api, el, time } from './portal.js';

/** An id is asked for in all workspaces that one may see. */
const anywhere = '/v1/workspaces/-';

/** A section that is empty until it is opened; `fill` answers what is in it. */
function section(id, title, fill) {
  const body = el('div', { class: 'opened' });
  const whole = el('details', { id }, el('summary', {}, title), body);
  let asked = false;
  whole.addEventListener('toggle', async () => {
    if (!whole.open || asked) return;
    asked = true;
    body.replaceChildren(el('p', { role: 'status' }, 'Looking…'));
    try {
      body.replaceChildren(...(await fill()));
    } catch (error) {
      asked = false;
      body.replaceChildren(el('p', { role: 'alert' }, error.message));
    }
  });
  return whole;
}

function line({ text, read_by: by }) {
  if (by.length === 0) return `${text}\n`;
  const who = by.join(', ');
  return el('span', {}, el('mark', {}, text), el('span', { class: 'by' }, `  ← ${who}`), '\n');
}

/** The body of an event, with what is read marked. */
export const cameIn = (id, position) =>
  section('came-in', 'What came in', async () => {
    const path = `${anywhere}/events/${encodeURIComponent(id)}/content`;
    const read = (cursor) => {
      const query = new URLSearchParams({ limit: '200' });
      if (position) query.set('position', position);
      if (cursor) query.set('cursor', cursor);
      return api(`${path}?${query}`);
    };
    const content = await read(null);
    if (content.gone !== null) return [el('p', {}, `${content.gone[0].toUpperCase()}${content.gone.slice(1)}.`)];
    const body = el('pre', { class: 'body', tabindex: '0' }, ...content.lines.map(line));
    const more = el('button', { class: 'more', type: 'button', hidden: content.next === null }, 'Show more lines');
    let { next } = content;
    more.addEventListener('click', async () => {
      more.disabled = true;
      const page = await read(next);
      body.append(...page.lines.map(line));
      ({ next } = page);
      more.hidden = next === null;
      more.disabled = false;
    });
    const absent = content.fields.filter((field) => !field.is_there);
    return [
      body,
      more,
      ...absent.map(({ path: name, read_by: by }) =>
        el('p', {}, 'Not there: ', el('code', {}, name), `, read by ${by.join(', ')}`),
      ),
      ...content.whole.map((by) => el('p', {}, `The whole event is read by ${by}`)),
    ];
  });

/** A part of a message; what follows a long one is asked for. */
function part(path, { name, text, next }) {
  const body = el('pre', { class: 'body', tabindex: '0' }, text);
  const more = el('button', { class: 'more', type: 'button', hidden: next === null }, `Show more of ${name}`);
  let cursor = next;
  more.addEventListener('click', async () => {
    more.disabled = true;
    const query = new URLSearchParams({ part: name, cursor });
    const [piece] = (await api(`${path}?${query}`)).parts;
    body.append(piece.text);
    cursor = piece.next;
    more.hidden = cursor === null;
    more.disabled = false;
  });
  return [el('h4', {}, name), body, more];
}

function reply({ at: when, account, verdict, code, words, provider_id: name }) {
  const said = verdict === null ? 'no answer is known' : `${verdict} ${code} ${words}`;
  return el(
    'li',
    {},
    time(when),
    ` ${account}: `,
    el('bdi', {}, said),
    name === null ? '' : `, which it calls ${name}`,
  );
}

/** The message of a delivery, rendered again, and what the provider said to it. */
export const wentOut = (id) =>
  section('went-out', 'What went out', async () => {
    const path = `${anywhere}/deliveries/${encodeURIComponent(id)}/content`;
    const content = await api(path);
    const html = content.parts.some(({ name }) => name === 'html');
    const frame = () =>
      el('iframe', {
        class: 'body',
        // No script, no forms, an origin of its own: what a tenant's template does stays in there.
        sandbox: '',
        referrerpolicy: 'no-referrer',
        src: `/messages/${encodeURIComponent(id)}/html`,
        title: 'The message as its reader sees it',
      });
    const rendered = `Rendered again by version ${content.template_version} of the template ${content.template}, from what was recorded.`;
    return [
      el('p', {}, content.problem === null ? rendered : `It cannot be rendered: ${content.problem}`),
      content.missing.length > 0
        ? el('p', {}, 'Missing, and empty in it: ', el('code', {}, content.missing.join(', ')))
        : '',
      ...content.notes.map((note) => el('p', {}, `${note[0].toUpperCase()}${note.slice(1)}.`)),
      html ? frame() : '',
      ...content.parts.flatMap((one) => part(path, one)),
      content.replies.length > 0 ? el('h4', {}, 'What the provider said') : '',
      content.replies.length > 0 ? el('ul', { id: 'replies' }, ...content.replies.map(reply)) : '',
    ];
  });
