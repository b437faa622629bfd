// Opens a session with the one-time word behind `#`, or with the owner token that somebody pastes.
const words = document.getElementById('words');
const button = document.querySelector('#sign-in button');

function complain(text) {
  words.textContent = text;
  words.className = 'wrong';
}

/** Where somebody's session ended, the sign-in stands at the address where they were: they go on there. */
const goOn = () => (location.pathname === '/welcome' ? location.replace('/inbox') : location.reload());

async function signIn(word) {
  button.disabled = true;
  try {
    const answer = await fetch('/v1/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-carillon': '1' },
      body: JSON.stringify({ word }),
    });
    if (answer.ok) return goOn();
    const problem = await answer.json();
    // The link was clicked once more by somebody who is signed in.
    if (answer.status === 401 && (await fetch('/v1/status')).ok) return goOn();
    const text = `${problem.detail[0].toUpperCase()}${problem.detail.slice(1)}.`;
    complain(text);
  } catch {
    complain('Carillon does not answer. Is it running?');
  } finally {
    button.disabled = false;
  }
  return undefined;
}

/** The word leaves the address bar and the history before anything else. */
function useLink() {
  const word = location.hash.slice(1);
  if (word === '' || location.pathname !== '/welcome') return;
  history.replaceState(null, '', '/welcome');
  void signIn(word);
}
useLink();
// The link pasted into the page that stands open changes nothing but the part behind #.
globalThis.addEventListener('hashchange', useLink);
document.getElementById('sign-in').addEventListener('submit', (event) => {
  event.preventDefault();
  void signIn(document.getElementById('token').value.trim());
});
