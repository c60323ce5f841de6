//! Acceptance of new clients.

use crate::client::{Client, ClientId, Health, Stage};
use crate::handshake::Handshake;

use super::{Ready, Server};

/// Clients at a time; more are turned away.
const MOST_CLIENTS: usize = 512;

/// Through which door a client comes.
#[derive(Debug, Clone, Copy)]
enum Entrance {
    Drive,
    Control,
}

impl Server {
    pub(super) fn let_in(&mut self, ready: &Ready) {
        if ready.door {
            self.let_in_through(Entrance::Drive);
        }
        if ready.control {
            self.let_in_through(Entrance::Control);
        }
    }

    fn let_in_through(&mut self, entrance: Entrance) {
        let door = match entrance {
            Entrance::Drive => Some(&self.door),
            Entrance::Control => self.control.as_ref(),
        };
        let Some(door) = door else { return };
        let accepted = match door.accept() {
            Ok(Some(stream)) => stream,
            Ok(None) => return,
            Err(error) => {
                return self
                    .shared
                    .report("not accepted", || format!("a client was not let in: {error}"));
            }
        };
        if self.clients.len() >= MOST_CLIENTS {
            return self.shared.report("too many clients", || {
                format!("a client was turned away: there are {MOST_CLIENTS} already")
            });
        }
        let stage = match entrance {
            Entrance::Drive => Stage::Meeting(Handshake::default()),
            Entrance::Control => Stage::Commanding,
        };
        let mut client = Client::new(accepted, stage);
        if let Entrance::Drive = entrance {
            Handshake::greet(client.output());
        }
        if client.send() == Health::Well {
            self.clients.insert(ClientId(self.next_client), client);
            self.next_client += 1;
        }
    }
}
