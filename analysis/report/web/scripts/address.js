// The address of the page: which member is shown, and what the networks were asked.

const addressQuery = () => new URLSearchParams(location.hash.slice(1));

const address = { member: null }; // entries of the selected member, once one is chosen

function writeAddress() {
  const entries = [...(address.member ?? []), ...(playgroundAddress() ?? [])];
  if (!entries.length) return;
  const hash = `#${new URLSearchParams(entries)}`;
  if (hash !== location.hash) history.replaceState(null, '', hash);
}
