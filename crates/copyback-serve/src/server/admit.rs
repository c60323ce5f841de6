//! Admission of requests, by the memory that they take.

use crate::budget::{self, Admission, PER_REQUEST};
use crate::client::{Client, ClientId};

use super::Server;

impl Server {
    /// Whether a request of a client with so many bytes of data may enter; room is set aside for it then.
    pub(super) fn admit(&mut self, id: ClientId, data: usize) -> bool {
        let answers: usize = self.clients.values().map(Client::set_aside).sum();
        let together = self.live.taken() + answers;
        let Some(client) = self.clients.get_mut(&id) else { return false };
        if let Admission::Granted(_) = client.admission {
            return true;
        }
        let own = client.held + client.unanswered * PER_REQUEST + client.set_aside();
        let bytes = PER_REQUEST + data;
        let before = client.admission;
        let may_enter = budget::admits(bytes, own, together);
        client.admission = if may_enter { Admission::Granted(bytes) } else { Admission::Waiting };
        if !may_enter && before == Admission::Open {
            self.shared.report("waiting for memory", || {
                format!(
                    "client {}: a request of {data} bytes waits, as all clients together have {} MiB under way",
                    id.0,
                    together >> 20
                )
            });
        }
        may_enter
    }
}
